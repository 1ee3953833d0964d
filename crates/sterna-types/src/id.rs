//! Ids of 128 bits.

use std::fmt;

/// Id of a flow: 16 bytes that stay the same from its first request to its
/// last, over all rounds and as a task.
///
/// The id is a secret of the server, because idempotency keys and replayed
/// randomness are derived from it. It belongs into sealed state and into the
/// rows of a store, and `Debug` does not show it. `Display` does, for tools that
/// show an operator an opened token.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FlowId([u8; 16]);

impl FlowId {
    /// Makes an id of 16 bytes, which come from a cryptographic random source
    /// or from the sealed state or the row that the id was written to.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, to be sealed or stored.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Writes 32 lowercase hexadecimal digits.
impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FlowId(..)")
    }
}

/// Id of a blob in a store.
///
/// The bytes are random or the first half of a digest of the blob. They are no
/// secret: a blob of sealed state is encrypted under a key that is in the token.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlobId([u8; 16]);

impl BlobId {
    /// Makes an id of 16 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, for a column of a database.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Writes 32 lowercase hexadecimal digits.
impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// Shows the first three bytes.
impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, ..] = self.0;
        write!(f, "BlobId({a:02x}{b:02x}{c:02x}…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_id_is_not_printed() {
        assert_eq!(format!("{:?}", FlowId::from_bytes([7; 16])), "FlowId(..)");
    }

    #[test]
    fn a_blob_id_is_written_whole_and_logged_in_short() {
        let mut bytes = [0xab; 16];
        bytes[0] = 1;
        let id = BlobId::from_bytes(bytes);
        assert_eq!(id.to_string(), "01ababababababababababababababab");
        assert_eq!(format!("{id:?}"), "BlobId(01abab…)");
    }
}
