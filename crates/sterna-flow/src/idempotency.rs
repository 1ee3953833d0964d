//! Values that are derived from the id of a flow.

use std::fmt;

use sterna_types::FlowId;

use crate::fingerprint::{Digest, digest_list, first_half};
use crate::key::Key;

/// Idempotency key of one effect of one flow, the same in every attempt.
///
/// Pass it to a service that remembers what it has done (an `Idempotency-Key`
/// header, a unique column), and a second try changes nothing there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdempotencyKey([u8; 16]);

impl IdempotencyKey {
    pub(crate) fn derive(digest: &dyn Digest, flow: &FlowId, key: &Key) -> Self {
        Self(first_half(derive(digest, flow, "effect", key)))
    }

    /// The sixteen bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdempotencyKey({self})")
    }
}

/// Derives 32 bytes that only this flow has, for one purpose and one key.
pub(crate) fn derive(digest: &dyn Digest, flow: &FlowId, purpose: &str, key: &Key) -> [u8; 32] {
    let parts: [&[u8]; 4] = [
        b"sterna-flow/1",
        flow.as_bytes(),
        purpose.as_bytes(),
        key.as_str().as_bytes(),
    ];
    digest_list(digest, &parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_an_effect_fits_into_a_header() {
        let mut bytes = [0xab; 16];
        bytes[0] = 1;
        let key = IdempotencyKey(bytes);
        assert_eq!(key.to_string(), "01ababababababababababababababab");
        assert_eq!(format!("{key:?}"), format!("IdempotencyKey({key})"));
    }
}
