//! Opens the state that a request brings, and seals the one for its retry.

use sterna_protocol::input::RequestState;
use sterna_protocol::meta::trace_id;
use sterna_runner::state::{FlowRound, OpenedState, StatePayload, StateRequest};
use sterna_seal::{
    Binding, LoadError, OpenError, Part, SealError, Sealed, Spill, Target as SealTarget,
};

use super::{Round, Target};
use crate::call::{FlowPosition, Request};
use crate::core::Core;
use crate::failure::Failure;
use crate::middleware::{self, RoundEnd};
use crate::telemetry::flow_name;

/// Opens the state of `round` or begins its flow, and asks the hooks whether it
/// may go on. They are asked once.
pub(super) async fn take_up(round: &mut Round) -> Result<FlowRound, Failure> {
    let entered = round.entered.as_mut();
    if let Some(flow_round) = entered.and_then(|entered| entered.flow_round.take()) {
        return Ok(flow_round);
    }
    let round = &*round;
    let flow_round = open(round).await?;
    if !flow_round.is_first() {
        round.core.metrics.answered.add(1);
    }
    settle(round, &flow_round)?;
    Ok(flow_round)
}

/// Opens the state of `round`, or begins a flow.
async fn open(round: &Round) -> Result<FlowRound, Failure> {
    let Some(state) = &round.state else {
        let subject = round.request.caller().principal().subject();
        let Target {
            name, arguments, ..
        } = &round.target;
        let about = (&round.core.realm, subject, name, arguments);
        let flow = round.core.flow_ids.mint(&about, round.core.now());
        let flow = flow.map_err(|error| broken("no flow can be begun", &error))?;
        return Ok(FlowRound::first(match &round.core.tasks {
            Some(tasks) => tasks.store.place_flow(flow),
            None => flow,
        }));
    };
    let binding = bind(round)?;
    let keys = round.core.keys.current();
    let opened = FlowRound::open(&keys, state.as_str(), binding, round.core.now());
    drop(keys);
    match opened.map_err(|reason| refused(&round.core, reason))? {
        OpenedState::Inline(flow_round) => Ok(flow_round),
        OpenedState::Spilled(spilled) => {
            let spill = round.core.tasks.as_deref().map(|tasks| tasks as &dyn Spill);
            // Boxed: few states are in a blob, and it would make all rounds as large.
            let loaded = Box::pin(spilled.load(spill)).await;
            loaded.map_err(|error| not_loaded(&round.core, error))
        }
    }
}

/// Notes where the round stands, and asks middleware whether it may begin.
fn settle(round: &Round, flow_round: &FlowRound) -> Result<(), Failure> {
    let position = FlowPosition {
        flow: *flow_round.flow().as_bytes(),
        round: flow_round.number(),
        trace: named_trace(round, flow_round),
    };
    round.request.set_position(position);
    let span = tracing::Span::current();
    if !span.is_disabled() {
        let name = flow_name(position.flow);
        let name = format_args!("{:032x}", u128::from_be_bytes(name));
        span.record("sterna.flow.id", tracing::field::display(name));
        span.record("sterna.round", position.round);
        let trace = round.request.trace().id();
        span.record("sterna.trace.id", &*trace);
    }
    let (method, name) = round.target.parts();
    middleware::before(
        &round.core.middleware,
        &round.request,
        method,
        name,
        position,
    )
}

/// Returns the trace to keep for later rounds. One that the client has not named
/// is made of the flow's id where it is shown.
pub(super) fn trace(round: &Round, flow_round: &FlowRound) -> [u8; 16] {
    named_trace(round, flow_round).unwrap_or_default()
}

/// Returns the trace that the client named in the first round.
fn named_trace(round: &Round, flow_round: &FlowRound) -> Option<[u8; 16]> {
    if flow_round.is_first() {
        return round.traceparent.as_deref().and_then(trace_id);
    }
    flow_round.trace()
}

/// Returns the payload of the state; `None` in the first round.
pub(super) fn payload<'a>(
    round: &Round,
    flow_round: &'a FlowRound,
) -> Result<Option<StatePayload<'a>>, Failure> {
    let payload = flow_round.payload();
    payload.map_err(|reason| refused(&round.core, reason))
}

/// Seals `payload` for the next round.
///
/// With a store, a state that is too large to travel stays there.
pub(super) fn seal<'r>(
    round: &'r Round,
    flow_round: &FlowRound,
    payload: &StatePayload<'_>,
    parts: &dyn Fn() -> Vec<Part>,
) -> Result<impl Future<Output = Result<RequestState, Failure>> + Send + use<'r>, Failure> {
    let core: &Core = &round.core;
    let request = StateRequest {
        payload,
        lifetimes: round.target.lifetimes,
        budget: core.budget,
        parts,
    };
    let spill = core.tasks.as_deref().map(|tasks| tasks as &dyn Spill);
    let keys = core.keys.current();
    let sealing = flow_round.seal(&keys, &request, || bind(round), core.now(), spill)?;
    let is_first = flow_round.is_first();
    Ok(async move {
        let bytes = sealing.payload_bytes();
        let state = finish_seal(round, bytes, sealing.finish().await)?;
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

/// Returns the failure of a state whose blob cannot be fetched. Only if it is
/// gone must the client start over.
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

/// Logs which check a state failed; the peer is not told.
pub(super) fn refused(core: &Core, reason: OpenError) -> Failure {
    tracing::Span::current().record("sterna.state.refused", reason.label());
    tracing::info!(target: "sterna::rounds", reason = reason.label(), "a request state was refused");
    core.metrics.refused(&reason);
    Failure::State
}

/// Notes the end of a round in its span and in the metrics.
pub(super) fn note_end(core: &Core, request: &Request, ended: RoundEnd) {
    tracing::Span::current().record("sterna.outcome", ended.as_str());
    let is_over = matches!(ended, RoundEnd::Failed | RoundEnd::Finished);
    if is_over
        && request
            .position()
            .is_some_and(|position| position.round > 0)
    {
        core.metrics.finished.add(1);
    }
}

fn broken(what: &str, error: &(dyn std::error::Error + 'static)) -> Failure {
    tracing::error!(target: "sterna::rounds", error, "{what}");
    Failure::Internal
}
