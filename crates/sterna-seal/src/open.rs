//! Turning a token back into state.

use base64_simd::URL_SAFE_NO_PAD;
use sterna_types::UnixMillis;

use crate::binding::{Binding, BindingSeal};
use crate::cipher::{self, SingleUseKey};
use crate::flow::Flow;
use crate::key::KeyId;
use crate::keyring::{CLOCK_SKEW, Keyring};
use crate::open_error::OpenError;
use crate::spill::{LoadError, Payload, Spill, Spilled};
use crate::v1::{self, Header, Plaintext};

impl Keyring {
    /// Returns the claims of `token`, if this ring sealed it under the same
    /// binding and it has not expired.
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
        let mut bytes = decode_token(token)?;
        let (header, nonce) = Header::read(&bytes)?;
        let (keys, refusal) = self.opening(header.key_id, now);
        let associated = header.associated_data(binding.realm());
        let (beginning, iv) = v1::split_nonce(nonce);
        let key = &keys.token_key(beginning);
        let plaintext = cipher::decrypt(
            SingleUseKey { key, iv },
            &associated,
            &mut bytes[v1::BODY_AT..],
        );
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let plaintext = plaintext.ok_or(OpenError::Unauthentic)?;
        let (plaintext, payload_len) = Plaintext::read(plaintext).ok_or(OpenError::Unreadable)?;
        check(&plaintext, &binding.seal(keys.binding()), now)?;
        bytes.truncate(v1::PAYLOAD_AT + payload_len);
        let payload = Payload::new(bytes, v1::PAYLOAD_AT);
        Ok(Claims {
            flow: plaintext.flow,
            issued_at: plaintext.issued_at,
            expires_at: plaintext.round_ends_at.min(plaintext.flow_ends_at),
            key_id: header.key_id,
            content: if plaintext.is_spilled {
                let flow = plaintext.flow.id;
                let spilled = Spilled::read(&payload, flow).ok_or(OpenError::Unreadable)?;
                Content::Spilled(spilled)
            } else {
                Content::Inline(payload)
            },
        })
    }
}

/// Checks the claims of an authentic token.
fn check(plaintext: &Plaintext, asked: &BindingSeal, now: UnixMillis) -> Result<(), OpenError> {
    let sealed = &plaintext.binding;
    if sealed.is_named != asked.is_named || !equal(&sealed.principal, &asked.principal) {
        return Err(OpenError::OtherPrincipal);
    }
    if !equal(&sealed.target, &asked.target) {
        return Err(OpenError::OtherTarget);
    }
    if !equal(&sealed.digest, &asked.digest) {
        return Err(OpenError::OtherArguments);
    }
    if plaintext.issued_at > now + CLOCK_SKEW {
        return Err(OpenError::NotYetIssued(plaintext.issued_at));
    }
    if plaintext.flow_ends_at <= now {
        return Err(OpenError::FlowExpired(plaintext.flow_ends_at));
    }
    if plaintext.round_ends_at <= now {
        return Err(OpenError::Expired(plaintext.round_ends_at));
    }
    Ok(())
}

/// Compares in constant time: a caller can choose the digested arguments, and
/// must not learn how many bytes were right.
fn equal<const N: usize>(sealed: &[u8; N], asked: &[u8; N]) -> bool {
    let pairs = sealed.iter().zip(asked);
    pairs.fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Reads the one spelling that a token's bytes have.
pub(crate) fn decode_token(token: &str) -> Result<Vec<u8>, OpenError> {
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

/// Characters above which a token is refused without being decoded.
pub(crate) const MAX_TOKEN_LEN: usize = 128 * 1024;

/// Claims of a token, after every check has passed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Claims {
    /// The flow it belongs to, as of the round it was sealed in.
    pub flow: Flow,
    /// When it was sealed.
    pub issued_at: UnixMillis,
    /// When it would have been refused.
    pub expires_at: UnixMillis,
    /// The key it was sealed with.
    pub key_id: KeyId,
    /// The state it carries.
    pub content: Content,
}

/// Payload of a token, or the place where it is.
#[derive(Debug)]
#[non_exhaustive]
pub enum Content {
    /// In the token.
    Inline(Payload),
    /// In a blob store, encrypted; the token holds the key.
    Spilled(Spilled),
}

impl Content {
    /// The payload, if the token carries it itself.
    pub fn inline(&self) -> Option<&[u8]> {
        match self {
            Self::Inline(payload) => Some(payload),
            Self::Spilled(_) => None,
        }
    }

    /// The payload, fetched from `spill` if it is there.
    ///
    /// # Errors
    ///
    /// [`LoadError`] says whether the client must start over or the operator
    /// must act.
    ///
    /// # Cancel safety
    ///
    /// Reads only; dropping the future loses nothing.
    pub async fn load(self, spill: Option<&dyn Spill>) -> Result<Payload, LoadError> {
        match self {
            Self::Inline(payload) => Ok(payload),
            Self::Spilled(spilled) => spilled.fetch(spill.ok_or(LoadError::NoStore)?).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use sterna_types::{FlowId, Principal};

    use super::*;
    use crate::binding::{Realm, Target};
    use crate::flow::Flow;
    use crate::keyed::SecretSum;

    #[test]
    fn an_anonymous_caller_is_not_a_named_one_even_if_every_digest_collides() {
        let realm = Realm::new("", None);
        let target = Target::new("", "");
        let binding = Binding::new(&realm, &Principal::anonymous(), &target, None).unwrap();
        let asked = binding.seal(&SecretSum::new(&[1; 32]));
        let now = UnixMillis::MIN;
        let mut plaintext = Plaintext {
            flow: Flow::begin(FlowId::from_bytes([0; 16]), now),
            issued_at: now,
            round_ends_at: UnixMillis::MAX,
            flow_ends_at: UnixMillis::MAX,
            binding: asked,
            is_spilled: false,
        };
        assert_eq!(check(&plaintext, &asked, now), Ok(()));
        plaintext.binding.is_named = true;
        let refused = check(&plaintext, &asked, now);
        assert_eq!(refused, Err(OpenError::OtherPrincipal));
    }

    #[test]
    fn two_differences_do_not_make_up_for_each_other() {
        assert!(equal(&[1, 2], &[1, 2]));
        assert!(!equal(&[1, 2], &[1, 3]));
        assert!(!equal(&[1, 2], &[3, 0]));
    }
}
