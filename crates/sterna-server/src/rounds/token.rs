//! Opening the state a request brings, and sealing the one it goes away with.

use std::borrow::Cow;

use bytes::Bytes;
use sterna_protocol::input::RequestState;
use sterna_seal::{
    Binding, Draft, Flow, FlowId, OpenError, Part, Principal, SealError, Target as SealTarget,
    ThreadEntropy,
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
    pub(super) fn take_up(round: &Round) -> Result<Self, Failure> {
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
        let payload = claims.content.inline();
        let payload = payload
            .ok_or_else(|| refused(OpenError::BlobGone))?
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
    pub(super) fn seal(
        &self,
        round: &Round,
        kept: &Kept<'_>,
        parts: &dyn Fn() -> Vec<Part>,
    ) -> Result<RequestState, Failure> {
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
        let sealed = core
            .keys
            .current()
            .seal(&draft, &self.binding, now(), &mut ThreadEntropy);
        match sealed {
            Ok(sealed) => {
                if sealed.is_heavy {
                    tracing::warn!(
                        target: "sterna::rounds",
                        method = round.target.method,
                        bytes = payload.len(),
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
