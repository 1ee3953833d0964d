//! Who a flow is, and the names of its effects that follow from it.

use std::fmt;

use zeroize::Zeroize;

use crate::fingerprint::{Digest, digest_list, first_half};
use crate::key::Key;

/// Sixteen random bytes that stay the same from the first request to the last.
///
/// They are a secret of the server: idempotency keys and [`Random`](crate::Random) come from
/// them, so they belong inside the sealed state and nowhere else.
#[derive(Clone)]
pub struct FlowId([u8; 16]);

impl FlowId {
    /// Takes the bytes of a new flow from a secure source, of an old one from
    /// its sealed state.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The sixteen bytes, to be sealed.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Bytes that only this flow has, for one purpose and one key.
    pub(crate) fn derive(&self, digest: &dyn Digest, purpose: &str, key: &Key) -> [u8; 32] {
        let parts: [&[u8]; 4] = [
            b"sterna-flow/1",
            &self.0,
            purpose.as_bytes(),
            key.as_str().as_bytes(),
        ];
        digest_list(digest, &parts)
    }
}

impl Drop for FlowId {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FlowId(..)")
    }
}

/// A name for one effect of one flow, the same however often it is tried.
///
/// Pass it to a service that remembers what it has done (an `Idempotency-Key`
/// header, a unique column), and a second try changes nothing there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdempotencyKey([u8; 16]);

impl IdempotencyKey {
    pub(crate) fn derive(digest: &dyn Digest, flow: &FlowId, key: &Key) -> Self {
        Self(first_half(flow.derive(digest, "effect", key)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_id_is_not_printed() {
        assert_eq!(format!("{:?}", FlowId::new([7; 16])), "FlowId(..)");
    }

    #[test]
    fn the_key_of_an_effect_fits_into_a_header() {
        let mut bytes = [0xab; 16];
        bytes[0] = 1;
        let key = IdempotencyKey(bytes);
        assert_eq!(key.to_string(), "01ababababababababababababababab");
        assert_eq!(format!("{key:?}"), format!("IdempotencyKey({key})"));
    }
}
