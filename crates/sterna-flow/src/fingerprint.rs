//! Fingerprint of a question, in sixteen bytes.

use std::fmt;

/// Sixteen bytes that stand for one exact question or one exact input.
///
/// An answer counts only for the question it was given to, so two questions
/// that differ must not share a fingerprint even if the caller of the tool
/// picks words for both: take it from a cryptographic hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// A fingerprint that was made elsewhere.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The fingerprint of `parts`, read as a list: moving a byte from one part
    /// to its neighbour makes another fingerprint.
    #[must_use]
    pub fn of(digest: &dyn Digest, parts: &[&[u8]]) -> Self {
        Self(first_half(digest_list(digest, parts)))
    }

    /// The sixteen bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// Plug point: a cryptographic hash with 32 bytes of output, such as SHA-256.
///
/// The engine brings no cryptography of its own. It needs a hash for the
/// fingerprint of a step's input and, keyed by the secret flow id, for
/// idempotency keys and repeatable randomness. Any function of the right shape
/// will do:
///
/// ```
/// use sha2::{Digest as _, Sha256};
///
/// fn sha256(parts: &[&[u8]]) -> [u8; 32] {
///     let mut hash = Sha256::new();
///     for part in parts {
///         hash.update(part);
///     }
///     hash.finalize().into()
/// }
///
/// let engine = sterna_flow::Engine::new(sha256);
/// ```
pub trait Digest: Send + Sync {
    /// The hash of all `parts`, one after the other.
    fn digest(&self, parts: &[&[u8]]) -> [u8; 32];
}

impl<F> Digest for F
where
    F: Fn(&[&[u8]]) -> [u8; 32] + Send + Sync,
{
    fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        self(parts)
    }
}

/// Hashes a list so that its borders count.
pub(crate) fn digest_list(digest: &dyn Digest, parts: &[&[u8]]) -> [u8; 32] {
    // One text rather than many small pieces: a hash has a price per piece.
    let size = parts.iter().map(|part| 8 + part.len()).sum();
    let mut room = [0; SHORT_LIST];
    if let Some(mut rest) = room.get_mut(..size) {
        for part in parts {
            let length = (part.len() as u64).to_be_bytes();
            for bytes in [&length[..], part] {
                let (place, after) = rest.split_at_mut(bytes.len());
                place.copy_from_slice(bytes);
                rest = after;
            }
        }
        return digest.digest(&[&room[..size]]);
    }
    let mut list = Vec::with_capacity(size);
    for part in parts {
        list.extend_from_slice(&(part.len() as u64).to_be_bytes());
        list.extend_from_slice(part);
    }
    digest.digest(&[&list])
}

/// Bytes of a list that is put together without an allocation: most questions
/// are one or two sentences.
const SHORT_LIST: usize = 256;

/// Half of a hash: what is shown to others never allows to extend the hash.
pub(crate) fn first_half(hash: [u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    half
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sha256;

    #[test]
    fn a_list_is_hashed_as_its_lengths_and_parts_however_long_it_is() {
        for length in (0..2 * SHORT_LIST)
            .step_by(13)
            .chain([SHORT_LIST - 19, SHORT_LIST - 18])
        {
            let part = vec![7; length];
            let mut text = (part.len() as u64).to_be_bytes().to_vec();
            text.extend(&part);
            text.extend([0, 0, 0, 0, 0, 0, 0, 2]);
            text.extend(b"ab");
            let hash = digest_list(&sha256, &[&part, b"ab"]);
            assert_eq!(hash, sha256(&[&text]), "{length}");
        }
    }

    #[test]
    fn the_borders_between_parts_count() {
        let of = |parts: &[&[u8]]| Fingerprint::of(&sha256, parts);
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_ne!(of(&[b"abc"]), of(&[b"abc", b""]));
        assert_eq!(of(&[b"ab", b"c"]), of(&[b"ab", b"c"]));
    }
}
