//! Opening the state a request brings, and sealing the one it goes away with.

use std::borrow::Cow;

use bytes::Bytes;
use sterna_protocol::input::RequestState;
use sterna_seal::{
    Binding, Draft, Flow, FlowId, LoadError, OpenError, Part, Principal, SealError, Sealed, Spill,
    Target as SealTarget, ThreadEntropy,
};

use super::{Round, now, v1};
use crate::core::Core;
use crate::failure::Failure;

/// What a state says beyond what the seal itself keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept<'a> {
    /// Which build wrote it.
    pub(super) build: [u8; 8],
    /// How often in a row the flow was sent away without a question.
    pub(super) sheds: u8,
    /// The trace of the first round, or zeros.
    pub(super) trace: [u8; 16],
    pub(super) carried: Carried<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Carried<'a> {
    /// Of a flow: its journal, which knows what was asked.
    Journal(Bytes),
    /// Of a low-level handler: the keys it asked for, and its own state.
    Author {
        asked: Vec<Cow<'a, str>>,
        state: Cow<'a, str>,
    },
}

/// A round in relation to the rounds before it.
pub(super) struct Thread {
    binding: Binding,
    /// The flow; its round is 0 if it has not been at the client yet.
    pub(super) flow: FlowId,
    pub(super) round: u32,
    before: Option<Flow>,
    /// What the state holds, if there was one.
    pub(super) payload: Option<Vec<u8>>,
}

impl Thread {
    /// Takes up the thread of `round`: opens its state, or begins a flow.
    pub(super) async fn take_up(round: &Round) -> Result<Self, Failure> {
        let binding = bind(round)?;
        let Some(state) = &round.state else {
            let flow = FlowId::mint(&binding, now(), &mut ThreadEntropy);
            let flow = flow.map_err(|error| broken("no flow can be begun", &error))?;
            return Ok(Self {
                binding,
                flow,
                round: 0,
                before: None,
                payload: None,
            });
        };
        let claims = round
            .core
            .keys
            .current()
            .open(state.as_str(), &binding, now())
            .map_err(refused)?;
        let spill = round.core.tasks.as_deref().map(|tasks| tasks as &dyn Spill);
        let payload = claims
            .content
            .load(spill)
            .await
            .map_err(not_loaded)?
            .to_vec();
        Ok(Self {
            binding,
            flow: claims.flow.id,
            round: claims.flow.round.into(),
            before: Some(claims.flow),
            payload: Some(payload),
        })
    }

    /// What the state keeps; `None` in the first round.
    pub(super) fn kept(&self) -> Result<Option<Kept<'_>>, Failure> {
        match &self.payload {
            None => Ok(None),
            Some(payload) => {
                let kept = v1::read(payload).ok_or_else(|| refused(OpenError::Unreadable))?;
                Ok(Some(kept))
            }
        }
    }

    /// Seals `kept` for the next round.
    ///
    /// With a store, a state that is too large to travel stays there.
    pub(super) fn seal<'r>(
        &self,
        round: &'r Round,
        kept: &Kept<'_>,
        parts: &dyn Fn() -> Vec<Part>,
    ) -> impl Future<Output = Result<RequestState, Failure>> + Send + use<'r> {
        let core: &Core = &round.core;
        let flow = match self.before {
            Some(before) => before.next_round(),
            None => Flow::begin(self.flow, now()),
        };
        let payload = v1::write(kept);
        let draft = Draft::new(flow, &payload)
            .with_lifetimes(round.target.lifetimes)
            .with_budget(core.budget)
            .with_parts(parts);
        let keys = core.keys.current();
        let (binding, mut entropy) = (&self.binding, ThreadEntropy);
        let (sealed, spilling) = match &core.tasks {
            None => (Some(keys.seal(&draft, binding, now(), &mut entropy)), None),
            Some(tasks) => {
                let spilling = keys.seal_or_spill(&draft, binding, now(), &mut entropy, &**tasks);
                (None, Some(spilling))
            }
        };
        let bytes = payload.len();
        async move {
            let sealed = match (sealed, spilling) {
                (Some(sealed), _) => sealed,
                (None, Some(spilling)) => spilling.await,
                (None, None) => return Err(Failure::Internal),
            };
            finish_seal(round, bytes, sealed)
        }
    }
}

fn finish_seal(
    round: &Round,
    bytes: usize,
    sealed: Result<Sealed, SealError>,
) -> Result<RequestState, Failure> {
    match sealed {
        Ok(sealed) => {
            if sealed.is_heavy {
                tracing::warn!(
                    target: "sterna::rounds",
                    method = round.target.method,
                    bytes,
                    "MR0202: a flow makes its client carry a heavy state"
                );
            }
            Ok(RequestState::new(sealed.token))
        }
        // The flow is as old as it may get; the client must start over.
        Err(SealError::FlowEnded(at)) => Err(refused(OpenError::FlowExpired(at))),
        Err(error) => Err(broken("MR0203: a state cannot be sealed", &error)),
    }
}

/// A state whose blob cannot be had. Only if it is gone must the client start
/// over.
fn not_loaded(error: LoadError) -> Failure {
    match error {
        LoadError::Refused(reason) => refused(reason),
        LoadError::NoStore => refused(OpenError::BlobGone),
        error => broken("MR0404: a spilled state cannot be fetched", &error),
    }
}

fn bind(round: &Round) -> Result<Binding, Failure> {
    let caller = round.request.caller().principal();
    let principal = match (caller.issuer(), caller.subject()) {
        (Some(issuer), Some(subject)) => Principal::named(issuer, subject, caller.client()),
        _ => Principal::ANONYMOUS,
    };
    let target = SealTarget::new(round.target.method, &round.target.name);
    let arguments = round.target.arguments.as_deref();
    Binding::new(&round.core.realm, &principal, &target, arguments)
        .map_err(|_| Failure::Params("the arguments are ambiguous"))
}

/// Notes which check a state failed, where the peer cannot see it.
pub(super) fn refused(reason: OpenError) -> Failure {
    tracing::info!(target: "sterna::rounds", reason = reason.label(), "a request state was refused");
    Failure::State
}

fn broken(what: &str, error: &(dyn std::error::Error + 'static)) -> Failure {
    tracing::error!(target: "sterna::rounds", error, "{what}");
    Failure::Internal
}
