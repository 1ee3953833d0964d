//! Turning state into a token.

use std::fmt;
use std::time::Duration;

use base64_simd::URL_SAFE_NO_PAD;
use sterna_types::UnixMillis;

use crate::binding::{Binding, DIGEST_LEN};
use crate::budget::{Budget, OverBudget, Part};
use crate::cipher::{self, SingleUseKey, TAG_LEN};
use crate::entropy::{Entropy, EntropyError};
use crate::flow::Flow;
use crate::hedge::NONCE_LEN;
use crate::key::KeyId;
use crate::keyring::Keyring;
use crate::spill::{Blob, BlobError, MAX_SPILL, Spill, Spilled};
use crate::subkeys::Subkeys;
use crate::v1::{self, Header, Plaintext};

impl Keyring {
    /// Seals `draft` into a token that opens under `binding` only.
    ///
    /// The token's length depends on the payload's length, rounded up so that
    /// few lengths exist, and on nothing else.
    ///
    /// # Errors
    ///
    /// [`SealError`] says who must act: the author for a budget or a flow that
    /// is too old, the operator for the rest.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_seal::{Binding, SealRequest, Flow, Keyring, Principal, Realm, Target, mint_flow_id};
    /// use sterna_seal::{ThreadEntropy, UnixMillis};
    ///
    /// let ring = Keyring::generate(&mut ThreadEntropy)?;
    /// let realm = Realm::new("https://tools.example", None);
    /// let target = Target::new("tools/call", "deploy");
    /// let binding = Binding::new(&realm, &Principal::anonymous(), &target, Some("{}"))?;
    /// let now = UnixMillis::new(1_785_196_800_000);
    ///
    /// let flow = Flow::begin(mint_flow_id(&binding, now, &mut ThreadEntropy)?, now);
    /// let sealed = ring.seal(&SealRequest::new(flow, b"journal"), &binding, now, &mut ThreadEntropy)?;
    ///
    /// let claims = ring.open(&sealed.token, &binding, now)?;
    /// assert_eq!(claims.flow, flow);
    /// assert_eq!(claims.content.inline(), Some(&b"journal"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seal(
        &self,
        draft: &SealRequest<'_>,
        binding: &Binding,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<Sealed, SealError> {
        if !draft.fits_a_token() {
            return Err(draft.over_budget(draft.inline_limit()).into());
        }
        self.issue(draft, Carried::Inline(draft.payload), binding, now, entropy)
    }

    /// Seals a payload that is known to fit.
    pub(crate) fn issue(
        &self,
        draft: &SealRequest<'_>,
        carried: Carried<'_>,
        binding: &Binding,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<Sealed, SealError> {
        let (key, subkeys) = self.minting(now).ok_or(SealError::NoActiveKey(now))?;
        let flow_ends_at = draft.lifetimes.flow_end(draft.flow.started_at);
        if flow_ends_at <= now {
            return Err(SealError::FlowEnded(flow_ends_at));
        }
        let round_ends_at = draft.lifetimes.round_end(now);
        let header = Header { key_id: key.id() };
        let plaintext = Plaintext {
            flow: draft.flow,
            issued_at: now,
            round_ends_at,
            flow_ends_at,
            binding: binding.seal(subkeys.binding()),
            is_spilled: matches!(carried, Carried::Spilled(_)),
        };
        let bytes = encrypt(
            subkeys,
            header,
            binding.realm(),
            &plaintext,
            carried,
            entropy,
        )?;
        Ok(Sealed {
            token: spell(&bytes),
            key_id: key.id(),
            expires_at: round_ends_at.min(flow_ends_at),
            over_warn_budget: draft.payload.len() > draft.budget.warn,
        })
    }
}

impl Keyring {
    /// Seals `draft`, putting a payload over [`Budget::refuse`] into `spill`
    /// and only its name and key into the token.
    ///
    /// Everything but the store's part is done before this returns.
    ///
    /// [`Budget::refuse`]: crate::Budget::refuse
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal), and if the store does not take the payload.
    ///
    /// # Cancel safety
    ///
    /// A future dropped early may leave a blob that no token names; it expires.
    pub fn seal_or_spill<'s>(
        &self,
        draft: &SealRequest<'_>,
        binding: &Binding,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
        spill: &'s dyn Spill,
    ) -> impl Future<Output = Result<Sealed, SealError>> + Send + use<'s> {
        let prepared = self.prepare(draft, binding, now, entropy);
        async move {
            let (sealed, blob) = prepared?;
            if let Some(Blob { id, bytes }) = blob {
                let put = spill.put(id, bytes, sealed.expires_at);
                put.await.map_err(SealError::Spill)?;
            }
            Ok(sealed)
        }
    }

    fn prepare(
        &self,
        draft: &SealRequest<'_>,
        binding: &Binding,
        now: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<(Sealed, Option<Blob>), SealError> {
        if draft.fits_a_token() {
            let sealed = self.seal(draft, binding, now, entropy)?;
            return Ok((sealed, None));
        }
        let limit = draft.budget.spill.min(MAX_SPILL);
        if draft.payload.len() > limit {
            return Err(draft.over_budget(limit).into());
        }
        let (_, keys) = self.minting(now).ok_or(SealError::NoActiveKey(now))?;
        let (spilled, blob) = Spilled::encrypt(keys, draft.flow.id, draft.payload, entropy)?;
        let ticket = spilled.to_bytes();
        let sealed = self.issue(draft, Carried::Spilled(&*ticket), binding, now, entropy)?;
        Ok((sealed, Some(blob)))
    }
}

/// The state to seal and the terms of its token.
#[derive(Clone, Copy)]
pub struct SealRequest<'a> {
    pub(crate) flow: Flow,
    pub(crate) payload: &'a [u8],
    pub(crate) lifetimes: Lifetimes,
    pub(crate) budget: Budget,
    parts: Option<&'a dyn Fn() -> Vec<Part>>,
}

impl<'a> SealRequest<'a> {
    /// `payload` for the next round of `flow`, with the default lifetimes and
    /// budget.
    pub fn new(flow: Flow, payload: &'a [u8]) -> Self {
        Self {
            flow,
            payload,
            lifetimes: Lifetimes::default(),
            budget: Budget::default(),
            parts: None,
        }
    }

    /// Gives the client this long instead.
    #[must_use]
    pub fn with_lifetimes(mut self, lifetimes: Lifetimes) -> Self {
        self.lifetimes = lifetimes;
        self
    }

    /// Allows this much instead.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Names the parts of the payload. Called only if it is over its budget.
    #[must_use]
    pub fn with_parts(mut self, parts: &'a dyn Fn() -> Vec<Part>) -> Self {
        self.parts = Some(parts);
        self
    }

    pub(crate) fn fits_a_token(&self) -> bool {
        self.payload.len() <= self.inline_limit()
    }

    fn inline_limit(&self) -> usize {
        self.budget.refuse.min(MAX_PAYLOAD)
    }

    pub(crate) fn over_budget(&self, limit: usize) -> OverBudget {
        let parts = self.parts.map(|parts| parts()).unwrap_or_default();
        OverBudget::new(self.payload.len(), limit, parts)
    }
}

impl fmt::Debug for SealRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealRequest")
            .field("flow", &self.flow)
            .field("len", &self.payload.len())
            .finish_non_exhaustive()
    }
}

/// A token, with its key and its end for the server.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct Sealed {
    /// Token for the client. It does not belong into a log.
    pub token: String,
    /// The key it was minted with.
    pub key_id: KeyId,
    /// When it is no longer accepted.
    pub expires_at: UnixMillis,
    /// `true` if the payload is larger than [`Budget::warn`].
    pub over_warn_budget: bool,
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealed")
            .field("len", &self.token.len())
            .field("key_id", &self.key_id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// The reason there is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// No random bytes for the nonce.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The flow reached its full lifetime, so a token would expire at once.
    #[error("the flow ended at {0}")]
    FlowEnded(UnixMillis),
    /// Every key is retired or not yet active.
    #[error("no key is active at {0}")]
    NoActiveKey(UnixMillis),
    /// The payload is too large.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The payload was to be spilled and the store did not take it.
    #[error("the state could not be spilled")]
    Spill(#[source] BlobError),
}

/// Contents of the payload field of a token.
pub(crate) enum Carried<'a> {
    Inline(&'a [u8]),
    Spilled(&'a [u8]),
}

/// Builds the token's bytes in one buffer, encrypting in place.
fn encrypt(
    keys: &Subkeys,
    header: Header,
    realm: &[u8; DIGEST_LEN],
    plaintext: &Plaintext,
    carried: Carried<'_>,
    entropy: &mut dyn Entropy,
) -> Result<Vec<u8>, EntropyError> {
    let (Carried::Inline(payload) | Carried::Spilled(payload)) = carried;
    let size = v1::token_size(payload.len());
    let mut bytes = Vec::with_capacity(size);
    bytes.extend_from_slice(&header.to_bytes());
    bytes.extend_from_slice(&[0; NONCE_LEN]);
    bytes.extend_from_slice(&plaintext.to_bytes(payload.len()));
    bytes.extend_from_slice(payload);
    bytes.resize(size - TAG_LEN, 0);
    let (start, plaintext) = bytes.split_at_mut(v1::BODY_AT);
    let nonce = keys.hedge().draw_nonce(realm, plaintext, entropy)?;
    start[v1::NONCE_AT..].copy_from_slice(&nonce);
    let associated = header.associated_data(realm);
    let (beginning, iv) = v1::split_nonce(nonce);
    let key = keys.token_key(beginning);
    let tag = cipher::encrypt(SingleUseKey { key: &key, iv }, &associated, plaintext);
    bytes.extend_from_slice(&tag);
    Ok(bytes)
}

fn spell(bytes: &[u8]) -> String {
    let mut token = String::with_capacity(v1::PREFIX.len() + bytes.len().div_ceil(3) * 4);
    token.push_str(v1::PREFIX);
    URL_SAFE_NO_PAD.encode_append(bytes, &mut token);
    token
}

/// The longest payload whose token is not refused for its length.
const MAX_PAYLOAD: usize = 92 * 1024;

/// Time that a client may take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Lifetimes {
    /// For one round. An hour: long enough to ask a colleague, short enough
    /// that a token found in yesterday's log is worthless.
    pub round: Duration,
    /// For the whole flow. A day: a client cannot keep a flow alive for ever
    /// by going round and round.
    pub flow: Duration,
}

impl Lifetimes {
    /// `round` for each round and `flow` for all of them together.
    pub const fn new(round: Duration, flow: Duration) -> Self {
        Self { round, flow }
    }

    pub(crate) fn round_end(&self, now: UnixMillis) -> UnixMillis {
        now + self.round
    }

    pub(crate) fn flow_end(&self, started_at: UnixMillis) -> UnixMillis {
        started_at + self.flow
    }
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self::new(
            Duration::from_secs(60 * 60),
            Duration::from_secs(24 * 60 * 60),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::MAX_TOKEN_LEN;

    #[test]
    fn the_longest_payload_makes_a_token_that_is_not_too_long() {
        let bytes = vec![0; v1::token_size(MAX_PAYLOAD)];
        assert!(spell(&bytes).len() <= MAX_TOKEN_LEN);
    }
}
