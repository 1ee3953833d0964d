//! The bytes of a token, version 1. Frozen by the fixtures in `tests/golden`.
//!
//! ```text
//! token     "s1." base64url(header nonce[24] ciphertext tag[16])
//! header    version[1] suite[1] key id[4]
//! plaintext claims[78] payload zeros
//! ```

use sterna_types::{FlowId, UnixMillis};

use crate::binding::{BindingSeal, DIGEST_LEN, MARK_LEN, SEAL_LEN};
use crate::cipher::{self, IV_LEN};
use crate::flow::Flow;
use crate::hedge::NONCE_LEN;
use crate::key::KeyId;

pub(crate) const PREFIX: &str = "s1.";

pub(crate) const NONCE_AT: usize = HEADER_LEN;

/// Offset of the ciphertext.
pub(crate) const BODY_AT: usize = NONCE_AT + NONCE_LEN;

/// Offset of the payload.
pub(crate) const PAYLOAD_AT: usize = BODY_AT + CLAIMS_LEN;

const CLAIMS_LEN: usize = 16 + 4 * TIME_LEN + 2 + 1 + 2 * MARK_LEN + SEAL_LEN + 3;

/// Bytes of a whole token, before they are spelled, that carries this much.
pub(crate) fn token_size(payload_len: usize) -> usize {
    // The tag counts as padded, so that the sizes are those of the ciphertext.
    BODY_AT + padded_len(CLAIMS_LEN + payload_len + cipher::TAG_LEN)
}

const HEADER_LEN: usize = 6;
const VERSION: u8 = 1;
/// AES-256-GCM under a key that AES-256 derives from the nonce. Suite 1, which
/// derived it with HMAC-SHA256, was in no release.
const SUITE: u8 = 2;
const TIME_LEN: usize = 6;

/// The part of a token that is not encrypted.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) key_id: KeyId,
}

/// A token begins with something this build does not know.
pub(crate) enum UnknownHeader {
    Short,
    Suite(u8),
    Version(u8),
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER_LEN] {
        let [a, b, c, d] = self.key_id.to_bytes();
        [VERSION, SUITE, a, b, c, d]
    }

    /// Splits the header and the nonce off the bytes of a token.
    pub(crate) fn read(token: &[u8]) -> Result<(Self, [u8; NONCE_LEN]), UnknownHeader> {
        let (header, rest) = token.split_first_chunk().ok_or(UnknownHeader::Short)?;
        let (nonce, _) = rest.split_first_chunk().ok_or(UnknownHeader::Short)?;
        match *header {
            [VERSION, SUITE, a, b, c, d] => {
                let key_id = KeyId::from_bytes([a, b, c, d]);
                Ok((Self { key_id }, *nonce))
            }
            [VERSION, suite, ..] => Err(UnknownHeader::Suite(suite)),
            [version, ..] => Err(UnknownHeader::Version(version)),
        }
    }

    /// The data authenticated beside the ciphertext: the header and the realm.
    pub(crate) fn associated_data(self, realm: &[u8; DIGEST_LEN]) -> [u8; ASSOCIATED_LEN] {
        let mut data = [0; ASSOCIATED_LEN];
        let (header, rest) = data.split_at_mut(HEADER_LEN);
        header.copy_from_slice(&self.to_bytes());
        rest.copy_from_slice(realm);
        data
    }
}

const ASSOCIATED_LEN: usize = HEADER_LEN + DIGEST_LEN;

/// Splits a nonce into the input of the token's key and the IV under that key.
pub(crate) fn split_nonce(nonce: [u8; NONCE_LEN]) -> ([u8; IV_LEN], [u8; IV_LEN]) {
    let (halves, _) = nonce.as_chunks();
    (halves[0], halves[1])
}

/// The claims before the payload inside a token.
pub(crate) struct Plaintext {
    pub(crate) flow: Flow,
    pub(crate) issued_at: UnixMillis,
    pub(crate) round_ends_at: UnixMillis,
    pub(crate) flow_ends_at: UnixMillis,
    pub(crate) binding: BindingSeal,
    pub(crate) is_spilled: bool,
}

const SPILLED: u8 = 1;
const NAMED: u8 = 2;

impl Plaintext {
    /// Writes the claims before a payload of this length, at most 16 MiB.
    pub(crate) fn to_bytes(&self, payload_len: usize) -> [u8; CLAIMS_LEN] {
        let mut bytes = [0; CLAIMS_LEN];
        let mut fields = FieldsMut(&mut bytes);
        fields.put(*self.flow.id.as_bytes());
        fields.put_time(self.flow.started_at);
        fields.put_time(self.issued_at);
        fields.put_time(self.round_ends_at);
        fields.put_time(self.flow_ends_at);
        fields.put(self.flow.round.to_be_bytes());
        let spilled = if self.is_spilled { SPILLED } else { 0 };
        let named = if self.binding.is_named { NAMED } else { 0 };
        fields.put([spilled | named]);
        fields.put(self.binding.principal);
        fields.put(self.binding.target);
        fields.put(self.binding.digest);
        let [.., a, b, c] = payload_len.to_be_bytes();
        fields.put([a, b, c]);
        bytes
    }

    /// Reads the claims and how many bytes of payload follow them.
    pub(crate) fn read(plaintext: &[u8]) -> Option<(Self, usize)> {
        let mut fields = Fields(plaintext);
        let id = FlowId::from_bytes(fields.take()?);
        let started_at = fields.time()?;
        let issued_at = fields.time()?;
        let round_ends_at = fields.time()?;
        let flow_ends_at = fields.time()?;
        let round = u16::from_be_bytes(fields.take()?);
        let [flags] = fields.take()?;
        let binding = BindingSeal {
            is_named: flags & NAMED != 0,
            principal: fields.take()?,
            target: fields.take()?,
            digest: fields.take()?,
        };
        let [a, b, c] = fields.take()?;
        let payload_len = usize::try_from(u32::from_be_bytes([0, a, b, c])).ok()?;
        if flags & !(SPILLED | NAMED) != 0 || payload_len > fields.0.len() {
            return None;
        }
        let mut flow = Flow::begin(id, started_at);
        flow.round = round;
        let plaintext = Self {
            flow,
            issued_at,
            round_ends_at,
            flow_ends_at,
            binding,
            is_spilled: flags & SPILLED != 0,
        };
        Some((plaintext, payload_len))
    }
}

struct FieldsMut<'a>(&'a mut [u8]);

impl FieldsMut<'_> {
    fn put<const N: usize>(&mut self, field: [u8; N]) {
        let (slot, rest) = std::mem::take(&mut self.0)
            .split_first_chunk_mut()
            .expect("the fields add up to CLAIMS_LEN");
        *slot = field;
        self.0 = rest;
    }

    fn put_time(&mut self, time: UnixMillis) {
        let [_, _, bytes @ ..] = time.get().to_be_bytes();
        self.put(bytes);
    }
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn time(&mut self) -> Option<UnixMillis> {
        let [a, b, c, d, e, f] = self.take()?;
        Some(UnixMillis::new(i64::from_be_bytes([
            0, 0, a, b, c, d, e, f,
        ])))
    }
}

/// The length that `len` bytes are padded to.
///
/// Multiples of 64 up to 1 KiB. Above, Padmé (Nikitin and others, PETS 2019):
/// of a length only as many leading bits are kept as its exponent has bits.
/// That is 16 sizes between 1 and 2 KiB, and again between 2 and 4, and costs
/// at most 6 %.
pub(crate) fn padded_len(len: usize) -> usize {
    if len <= 1024 {
        return len.next_multiple_of(64);
    }
    let exponent = len.ilog2();
    let kept_bits = exponent.ilog2() + 1;
    len.next_multiple_of(1 << (exponent - kept_bits))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claims(payload_len: usize) -> [u8; CLAIMS_LEN] {
        let plaintext = Plaintext {
            flow: Flow::begin(FlowId::from_bytes([1; 16]), UnixMillis::MAX),
            issued_at: UnixMillis::MIN,
            round_ends_at: UnixMillis::new(2),
            flow_ends_at: UnixMillis::new(1 << 40),
            binding: BindingSeal {
                is_named: true,
                principal: [3; MARK_LEN],
                target: [4; MARK_LEN],
                digest: [5; SEAL_LEN],
            },
            is_spilled: true,
        };
        plaintext.to_bytes(payload_len)
    }

    #[test]
    fn claims_survive_being_written_and_read() {
        let bytes = [&claims(3)[..], b"abc", &[0; 10]].concat();
        let (plaintext, payload_len) = Plaintext::read(&bytes).unwrap();
        assert_eq!(payload_len, 3);
        assert_eq!(plaintext.to_bytes(3), bytes[..CLAIMS_LEN]);
        assert!(plaintext.is_spilled && plaintext.binding.is_named);
        assert_eq!(plaintext.flow.started_at, UnixMillis::MAX);
    }

    #[test]
    fn a_payload_may_go_to_the_end() {
        let bytes = [&claims(3)[..], b"abc"].concat();
        let (_, payload_len) = Plaintext::read(&bytes).unwrap();
        assert_eq!(payload_len, 3);
    }

    #[test]
    fn claims_that_do_not_add_up_are_not_read() {
        let short = &claims(0)[..CLAIMS_LEN - 1];
        assert!(Plaintext::read(short).is_none());
        let too_long = [&claims(4)[..], b"abc"].concat();
        assert!(Plaintext::read(&too_long).is_none());
        let mut unknown_flag = claims(0);
        unknown_flag[42] |= 4;
        assert!(Plaintext::read(&unknown_flag).is_none());
    }

    #[test]
    fn lengths_fall_into_few_classes() {
        for (len, padded) in [
            (1, 64),
            (64, 64),
            (65, 128),
            (1000, 1024),
            (1025, 1088),
            (2049, 2176),
            (65_537, 67_584),
        ] {
            assert_eq!(padded_len(len), padded, "{len}");
        }
        let classes: std::collections::BTreeSet<_> = (1..=96 * 1024).map(padded_len).collect();
        assert_eq!(classes.len(), 128);
    }

    proptest! {
        #[test]
        fn padding_never_shrinks_and_seldom_wastes_much(len in 1025_usize..100_000_000) {
            let padded = padded_len(len);
            prop_assert!(padded >= len);
            prop_assert!((padded - len) * 16 <= len, "{len} -> {padded}");
            prop_assert_eq!(padded_len(padded), padded, "a class is its own length");
            prop_assert_eq!(padded % 16, 0);
        }
    }
}
