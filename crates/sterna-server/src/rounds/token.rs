//! Opening the state a request brings, and sealing the one it goes away with.

use std::borrow::Cow;

use bytes::Bytes;
use sterna_protocol::input::RequestState;
use sterna_protocol::meta::trace_id;
use sterna_seal::{
    Binding, Content, Flow, FlowId, LoadError, OpenError, Part, Payload, SealError, SealRequest,
    Sealed, Spill, Target as SealTarget, ThreadEntropy,
};

use super::{Round, Target, now, v1};
use crate::around::{RoundEnd, may_go_on};
use crate::call::{Place, Request};
use crate::core::Core;
use crate::failure::Failure;
use crate::flow_ids;
use crate::telemetry::flow_name;

/// What a state says beyond what the seal itself keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept<'a> {
    /// Which build wrote it.
    pub(super) build: [u8; 8],
    /// How often in a row the flow was sent away without a question.
    pub(super) sheds: u8,
    /// The trace that the client named in the first round, or zeros.
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
    /// What the state was bound to, if there was one.
    binding: Option<Binding>,
    /// The flow; its round is 0 if it has not been at the client yet.
    pub(super) flow: FlowId,
    pub(super) round: u32,
    before: Option<Flow>,
    /// What the state holds, if there was one.
    pub(super) payload: Option<Payload>,
}

impl Thread {
    /// Takes up the thread of `round`, if the hooks agree. They are asked once.
    pub(super) async fn take_up(round: &mut Round) -> Result<Self, Failure> {
        let entered = round.entered.as_mut();
        if let Some(thread) = entered.and_then(|entered| entered.thread.take()) {
            return Ok(thread);
        }
        let round = &*round;
        let thread = Self::find(round).await?;
        if thread.before.is_some() {
            round.core.metrics.answered.add(1);
        }
        thread.settle(round)
    }

    /// The thread of `round`: opens its state, or begins a flow.
    pub(super) async fn find(round: &Round) -> Result<Self, Failure> {
        let Some(state) = &round.state else {
            let subject = round.request.caller().principal().subject();
            let Target {
                name, arguments, ..
            } = &round.target;
            let about = (&round.core.realm, subject, name, arguments);
            let flow = flow_ids::mint(&about);
            let flow = flow.map_err(|error| broken("no flow can be begun", &error))?;
            return Ok(Self {
                binding: None,
                flow,
                round: 0,
                before: None,
                payload: None,
            });
        };
        let binding = bind(round)?;
        let claims = round
            .core
            .keys
            .current()
            .open(state.as_str(), &binding, now())
            .map_err(|reason| refused(&round.core, reason))?;
        let payload = match claims.content {
            Content::Inline(payload) => payload,
            elsewhere => {
                let spill = round.core.tasks.as_deref().map(|tasks| tasks as &dyn Spill);
                // Boxed: few states are elsewhere, and it would make all rounds as large.
                let loaded = Box::pin(elsewhere.load(spill)).await;
                loaded.map_err(|error| not_loaded(&round.core, error))?
            }
        };
        Ok(Self {
            binding: Some(binding),
            flow: claims.flow.id,
            round: claims.flow.round.into(),
            before: Some(claims.flow),
            payload: Some(payload),
        })
    }

    /// Says where the round stands, and asks the hooks whether it may go on.
    fn settle(self, round: &Round) -> Result<Self, Failure> {
        let place = Place {
            flow: *self.flow.as_bytes(),
            round: self.round,
            trace: self.named_trace(round),
        };
        round.request.stands_at(place);
        let span = tracing::Span::current();
        if !span.is_disabled() {
            let name = flow_name(place.flow);
            let name = format_args!("{:032x}", u128::from_be_bytes(name));
            span.record("sterna.flow.id", tracing::field::display(name));
            span.record("sterna.round", self.round);
            let trace = round.request.trace().id();
            span.record("sterna.trace.id", &*trace);
        }
        may_go_on(&round.core, &round.request, &round.target, place)?;
        Ok(self)
    }

    /// The trace to keep for later rounds. One that nobody has named is made of
    /// the flow's id, by whoever wants to see it.
    pub(super) fn trace(&self, round: &Round) -> [u8; 16] {
        self.named_trace(round).unwrap_or_default()
    }

    /// The trace that the client named in the first round.
    fn named_trace(&self, round: &Round) -> Option<[u8; 16]> {
        match &self.payload {
            Some(payload) => v1::trace(payload).filter(|trace| *trace != [0; 16]),
            None => round.traceparent.as_deref().and_then(trace_id),
        }
    }

    /// What the state keeps; `None` in the first round.
    pub(super) fn kept(&self, round: &Round) -> Result<Option<Kept<'_>>, Failure> {
        let Some(payload) = &self.payload else {
            return Ok(None);
        };
        match v1::read(payload) {
            Some(kept) => Ok(Some(kept)),
            None => Err(refused(&round.core, OpenError::Unreadable)),
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
    ) -> Result<impl Future<Output = Result<RequestState, Failure>> + Send + use<'r>, Failure> {
        let core: &Core = &round.core;
        let first;
        let binding = match &self.binding {
            Some(binding) => binding,
            // Bound here and not before: most rounds end without a state.
            None => {
                first = bind(round)?;
                &first
            }
        };
        let flow = match self.before {
            Some(before) => before.next_round(),
            None => Flow::begin(self.flow, now()),
        };
        let payload = v1::write(kept);
        let draft = SealRequest::new(flow, &payload)
            .with_lifetimes(round.target.lifetimes)
            .with_budget(core.budget)
            .with_parts(parts);
        let keys = core.keys.current();
        let mut entropy = ThreadEntropy;
        let (sealed, spilling) = match &core.tasks {
            None => (Some(keys.seal(&draft, binding, now(), &mut entropy)), None),
            Some(tasks) => {
                let spilling = keys.seal_or_spill(&draft, binding, now(), &mut entropy, &**tasks);
                (None, Some(Box::pin(spilling)))
            }
        };
        let bytes = payload.len();
        let is_first = self.before.is_none();
        Ok(async move {
            let sealed = match (sealed, spilling) {
                (Some(sealed), _) => sealed,
                (None, Some(spilling)) => spilling.await,
                (None, None) => return Err(Failure::Internal),
            };
            let state = finish_seal(round, bytes, sealed)?;
            if is_first {
                core.metrics.started.add(1);
            }
            let bytes = state.as_str().len() as u64;
            core.metrics.suspended.add(1);
            core.metrics.state_bytes.add(bytes);
            tracing::Span::current().record("sterna.state.bytes", bytes);
            Ok(state)
        })
    }
}

fn finish_seal(
    round: &Round,
    bytes: usize,
    sealed: Result<Sealed, SealError>,
) -> Result<RequestState, Failure> {
    match sealed {
        Ok(sealed) => {
            if sealed.over_warn_budget {
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
        Err(SealError::FlowEnded(at)) => Err(refused(&round.core, OpenError::FlowExpired(at))),
        Err(error) => Err(broken("MR0203: a state cannot be sealed", &error)),
    }
}

/// A state whose blob cannot be had. Only if it is gone must the client start
/// over.
fn not_loaded(core: &Core, error: LoadError) -> Failure {
    match error {
        LoadError::Refused(reason) => refused(core, reason),
        LoadError::NoStore => refused(core, OpenError::BlobGone),
        error => broken("MR0404: a spilled state cannot be fetched", &error),
    }
}

fn bind(round: &Round) -> Result<Binding, Failure> {
    let principal = round.request.caller().principal();
    let mut target = SealTarget::new(round.target.method, &round.target.name);
    if let Some(digest) = round.target.digest {
        target = target.with_digest(digest);
    }
    let arguments = round.target.arguments.as_deref();
    Binding::new(&round.core.realm, principal, &target, arguments).map_err(|_| {
        Failure::params("`arguments` has a member twice, so readers may differ over it")
    })
}

/// Notes which check a state failed, where the peer cannot see it.
pub(super) fn refused(core: &Core, reason: OpenError) -> Failure {
    tracing::Span::current().record("sterna.state.refused", reason.label());
    tracing::info!(target: "sterna::rounds", reason = reason.label(), "a request state was refused");
    core.metrics.refused(&reason);
    Failure::State
}

/// Notes how a round ended.
pub(super) fn note_end(core: &Core, request: &Request, ended: RoundEnd) {
    tracing::Span::current().record("sterna.outcome", ended.as_str());
    let is_over = matches!(ended, RoundEnd::Failed | RoundEnd::Finished);
    if is_over && request.place().is_some_and(|place| place.round > 0) {
        core.metrics.finished.add(1);
    }
}

fn broken(what: &str, error: &(dyn std::error::Error + 'static)) -> Failure {
    tracing::error!(target: "sterna::rounds", error, "{what}");
    Failure::Internal
}
