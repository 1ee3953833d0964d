//! Turning a token back into state.

use base64_simd::URL_SAFE_NO_PAD;

use crate::binding::{Binding, BindingSeal};
use crate::cipher::{self, Once};
use crate::claims::{Claims, Content, Payload};
use crate::key::KeyId;
use crate::keyring::{CLOCK_SKEW, Keyring};
use crate::spill::Spilled;
use crate::time::UnixMillis;
use crate::v1::{self, Header, Inside, UnknownHeader};

impl Keyring {
    /// Returns what `token` carries, if this ring sealed it under the same
    /// binding and its time is not over.
    ///
    /// `token` comes from the network: nothing in it is believed, and nothing
    /// is allocated but room for its own bytes, before its authentication tag
    /// is verified.
    ///
    /// # Errors
    ///
    /// Every [`OpenError`] means "start over". Which one it was is for the
    /// log; the peer is told [`OpenError::WIRE_MESSAGE`] and nothing else.
    pub fn open(
        &self,
        token: &str,
        binding: &Binding,
        now: UnixMillis,
    ) -> Result<Claims, OpenError> {
        let mut bytes = read_spelling(token)?;
        let (header, nonce) = Header::read(&bytes)?;
        let (keys, refusal) = self.opening(header.key_id, now);
        let associated = header.associated_data(binding.realm());
        let (beginning, iv) = v1::split_nonce(nonce);
        let key = &keys.token_key(beginning);
        let plaintext = cipher::decrypt(Once { key, iv }, &associated, &mut bytes[v1::BODY_AT..]);
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let plaintext = plaintext.ok_or(OpenError::Unauthentic)?;
        let (inside, payload_len) = Inside::read(plaintext).ok_or(OpenError::Unreadable)?;
        check(&inside, &binding.seal(keys.binding()), now)?;
        bytes.truncate(v1::PAYLOAD_AT + payload_len);
        let payload = Payload::new(bytes, v1::PAYLOAD_AT);
        Ok(Claims {
            flow: inside.flow,
            issued_at: inside.issued_at,
            expires_at: inside.round_ends_at.min(inside.flow_ends_at),
            key_id: header.key_id,
            content: if inside.is_spilled {
                let flow = inside.flow.id;
                let spilled = Spilled::read(&payload, flow).ok_or(OpenError::Unreadable)?;
                Content::Spilled(spilled)
            } else {
                Content::Inline(payload)
            },
        })
    }
}

/// Checks what only an authentic token can say.
fn check(inside: &Inside, asked: &BindingSeal, now: UnixMillis) -> Result<(), OpenError> {
    let sealed = &inside.binding;
    if sealed.is_named != asked.is_named || !equal(&sealed.principal, &asked.principal) {
        return Err(OpenError::OtherPrincipal);
    }
    if !equal(&sealed.target, &asked.target) {
        return Err(OpenError::OtherTarget);
    }
    if !equal(&sealed.digest, &asked.digest) {
        return Err(OpenError::OtherArguments);
    }
    if inside.issued_at > now.after(CLOCK_SKEW) {
        return Err(OpenError::NotYetIssued(inside.issued_at));
    }
    if inside.flow_ends_at <= now {
        return Err(OpenError::FlowExpired(inside.flow_ends_at));
    }
    if inside.round_ends_at <= now {
        return Err(OpenError::Expired(inside.round_ends_at));
    }
    Ok(())
}

/// Compares in the same time wherever the digests differ: a caller can choose
/// what is digested, and must not learn how near it came.
fn equal<const N: usize>(sealed: &[u8; N], asked: &[u8; N]) -> bool {
    let pairs = sealed.iter().zip(asked);
    pairs.fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Reads the one spelling that a token's bytes have.
pub(crate) fn read_spelling(token: &str) -> Result<Vec<u8>, OpenError> {
    if token.len() > MAX_TOKEN_LEN {
        return Err(OpenError::TooLong(token.len()));
    }
    let spelled = token.strip_prefix(v1::PREFIX).ok_or(OpenError::Malformed)?;
    // Padding, other alphabets, white space and loose trailing bits are all
    // refused, so no other text stands for these bytes.
    URL_SAFE_NO_PAD
        .decode_to_vec(spelled)
        .map_err(|_| OpenError::Malformed)
}

impl From<UnknownHeader> for OpenError {
    fn from(header: UnknownHeader) -> Self {
        match header {
            UnknownHeader::Short => Self::Malformed,
            UnknownHeader::Suite(suite) => Self::UnknownSuite(suite),
            UnknownHeader::Version(version) => Self::UnknownVersion(version),
        }
    }
}

/// Characters above which a token is refused without being decoded.
pub(crate) const MAX_TOKEN_LEN: usize = 128 * 1024;

/// Why a token is refused. For the log, never for the peer.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The spilled payload is not the one this token was sealed with.
    #[error("the spilled state was altered")]
    BlobAltered,
    /// The spilled payload is no longer in the store.
    #[error("the spilled state is gone")]
    BlobGone,
    /// The client took too long for this round.
    #[error("the round ended at {0}")]
    Expired(UnixMillis),
    /// The flow as a whole took too long.
    #[error("the flow ended at {0}")]
    FlowExpired(UnixMillis),
    /// It is not a token at all, or not in its canonical spelling.
    #[error("not a token in its canonical spelling")]
    Malformed,
    /// It claims to be issued more than a minute from now: a clock is wrong.
    #[error("issued in the future, at {0}")]
    NotYetIssued(UnixMillis),
    /// It was sealed for other arguments.
    #[error("sealed for other arguments")]
    OtherArguments,
    /// It was sealed for another caller, or for an anonymous one.
    #[error("sealed for another principal")]
    OtherPrincipal,
    /// It was sealed for another method or another tool.
    #[error("sealed for another target")]
    OtherTarget,
    /// Its key is past its retirement.
    #[error("sealed with key {0}, which is retired")]
    RetiredKey(KeyId),
    /// It is longer than any token we seal.
    #[error("{0} characters are too long for a token")]
    TooLong(usize),
    /// It was altered, or sealed for another audience or tenant.
    #[error("altered, or sealed for another audience or tenant")]
    Unauthentic,
    /// Its key is not in this ring. Many of these: a replica has other keys.
    #[error("sealed with key {0}, which is not in the ring")]
    UnknownKey(KeyId),
    /// Its cipher is not known to this build.
    #[error("sealed with suite {0}, which this build does not know")]
    UnknownSuite(u8),
    /// Its layout is not known to this build.
    #[error("a token of version {0}, which this build does not know")]
    UnknownVersion(u8),
    /// It is authentic, but this build cannot read what is inside.
    #[error("authentic, but not readable by this build")]
    Unreadable,
}

impl OpenError {
    /// All that a peer is told, whatever the reason.
    pub const WIRE_MESSAGE: &str = "Invalid or expired requestState";

    /// The machine-readable form of [`WIRE_MESSAGE`](Self::WIRE_MESSAGE).
    pub const WIRE_REASON: &str = "invalid_request_state";

    /// A fixed word for this reason, for log fields and metric labels.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::BlobAltered => "blob_altered",
            Self::BlobGone => "blob_gone",
            Self::Expired(_) => "expired",
            Self::FlowExpired(_) => "flow_expired",
            Self::Malformed => "malformed",
            Self::NotYetIssued(_) => "not_yet_issued",
            Self::OtherArguments => "other_arguments",
            Self::OtherPrincipal => "other_principal",
            Self::OtherTarget => "other_target",
            Self::RetiredKey(_) => "retired_key",
            Self::TooLong(_) => "too_long",
            Self::Unauthentic => "unauthentic",
            Self::UnknownKey(_) => "unknown_key",
            Self::UnknownSuite(_) => "unknown_suite",
            Self::UnknownVersion(_) => "unknown_version",
            Self::Unreadable => "unreadable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::{Principal, Realm, Target};
    use crate::flow::{Flow, FlowId};
    use crate::keyed::SecretSum;

    #[test]
    fn nobody_is_not_somebody_even_if_every_digest_collides() {
        let realm = Realm::new("", None);
        let target = Target::new("", "");
        let binding = Binding::new(&realm, &Principal::ANONYMOUS, &target, None).unwrap();
        let asked = binding.seal(&SecretSum::new(&[1; 32]));
        let now = UnixMillis::MIN;
        let mut inside = Inside {
            flow: Flow::begin(FlowId::from_bytes([0; 16]), now),
            issued_at: now,
            round_ends_at: UnixMillis::MAX,
            flow_ends_at: UnixMillis::MAX,
            binding: asked,
            is_spilled: false,
        };
        assert_eq!(check(&inside, &asked, now), Ok(()));
        inside.binding.is_named = true;
        let refused = check(&inside, &asked, now);
        assert_eq!(refused, Err(OpenError::OtherPrincipal));
    }

    #[test]
    fn two_differences_do_not_make_up_for_each_other() {
        assert!(equal(&[1, 2], &[1, 2]));
        assert!(!equal(&[1, 2], &[1, 3]));
        assert!(!equal(&[1, 2], &[3, 0]));
    }
}
