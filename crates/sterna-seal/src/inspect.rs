//! Looking into a token for its operator, without the request it came with.

use std::sync::Arc;

use sterna_types::{Principal, UnixMillis};

use crate::binding::{Binding, BindingSeal, Realm, Target, digest_of, first};
use crate::cipher::{self, SingleUseKey};
use crate::flow::Flow;
use crate::key::KeyId;
use crate::keyring::{CLOCK_SKEW, Keyring};
use crate::open::Content;
use crate::open::decode_token;
use crate::open_error::OpenError;
use crate::spill::{Payload, Spilled};
use crate::subkeys::Subkeys;
use crate::v1::{self, Header, Plaintext};

impl Keyring {
    /// Returns the contents of `token` and its binding, without checking either.
    ///
    /// For operators and their tools. A server calls [`open`](Self::open): the token
    /// inspected here may have expired, belong to another caller or have a retired
    /// key, so a server must not act on it.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if nothing can be read: it is not a token, its key is not
    /// in the ring, it was altered, or it is of another realm.
    pub fn inspect(&self, token: &str, realm: &Realm) -> Result<Inspection, OpenError> {
        let mut bytes = decode_token(token)?;
        let (header, nonce) = Header::read(&bytes)?;
        let found = self.find(header.key_id);
        let (key, subkeys) = found.ok_or(OpenError::UnknownKey(header.key_id))?;
        let associated = header.associated_data(realm.digest());
        let (beginning, iv) = v1::split_nonce(nonce);
        let token_key = &subkeys.token_key(beginning);
        let once = SingleUseKey { key: token_key, iv };
        let plaintext = cipher::decrypt(once, &associated, &mut bytes[v1::BODY_AT..]);
        let plaintext = plaintext.ok_or(OpenError::Unauthentic)?;
        let (plaintext, payload_len) = Plaintext::read(plaintext).ok_or(OpenError::Unreadable)?;
        bytes.truncate(v1::PAYLOAD_AT + payload_len);
        let payload = Payload::new(bytes, v1::PAYLOAD_AT);
        Ok(Inspection {
            flow: plaintext.flow,
            issued_at: plaintext.issued_at,
            round_ends_at: plaintext.round_ends_at,
            flow_ends_at: plaintext.flow_ends_at,
            key_id: header.key_id,
            key_retires_at: key.retire_at(),
            is_named: plaintext.binding.is_named,
            content: if plaintext.is_spilled {
                let spilled = Spilled::read(&payload, plaintext.flow.id);
                Content::Spilled(spilled.ok_or(OpenError::Unreadable)?)
            } else {
                Content::Inline(payload)
            },
            binding: plaintext.binding,
            keys: Arc::clone(subkeys),
        })
    }
}

/// Contents and binding of a token. Nothing has been checked except that a key of
/// the ring sealed it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// The flow it belongs to, as of the round it was sealed in.
    pub flow: Flow,
    /// When it was sealed.
    pub issued_at: UnixMillis,
    /// Until when this round may be answered.
    pub round_ends_at: UnixMillis,
    /// Until when the whole flow must be over.
    pub flow_ends_at: UnixMillis,
    /// The key it was sealed with.
    pub key_id: KeyId,
    /// When that key opens nothing more, if ever.
    pub key_retires_at: Option<UnixMillis>,
    /// `true` if it was sealed for a caller that is not anonymous.
    pub is_named: bool,
    /// The state it carries.
    pub content: Content,
    binding: BindingSeal,
    keys: Arc<Subkeys>,
}

impl Inspection {
    /// Reason for which a server would refuse it at `now` from every caller.
    pub fn refused_at(&self, now: UnixMillis) -> Option<OpenError> {
        if self.key_retires_at.is_some_and(|at| at <= now) {
            Some(OpenError::RetiredKey(self.key_id))
        } else if self.issued_at > now + CLOCK_SKEW {
            Some(OpenError::NotYetIssued(self.issued_at))
        } else if self.flow_ends_at <= now {
            Some(OpenError::FlowExpired(self.flow_ends_at))
        } else if self.round_ends_at <= now {
            Some(OpenError::Expired(self.round_ends_at))
        } else {
            None
        }
    }

    /// Returns `true` if it was sealed for `principal`.
    pub fn is_of_principal(&self, principal: &Principal) -> bool {
        self.is_named != principal.is_anonymous()
            && self.binding.principal == first(&digest_of(principal))
    }

    /// Returns `true` if it was sealed for `target`.
    pub fn is_of_target(&self, target: &Target<'_>) -> bool {
        self.binding.target == target.mark()
    }

    /// Returns whether it was sealed for this very request. If principal and target
    /// are the same and this is `false`, the arguments differ.
    pub fn is_of_request(&self, binding: &Binding) -> bool {
        self.binding == binding.seal(self.keys.binding())
    }
}
