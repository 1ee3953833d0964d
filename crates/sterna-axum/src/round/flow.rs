//! A round of a flow: opens its state, replays it, and ends the request with
//! its response or its questions.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;
use sterna_flow::{
    BuildMatch, Diagnostic, Engine, Error, FlowId, Journal, Key, Kind, OpenQuestion, Outcome, Run,
    UnixMillis,
};
use sterna_runner::effects::{StoreSpill, with_store};
use sterna_runner::state::{FlowRound, HandlerState, OpenedState, StatePayload, StateRequest};
use sterna_runner::{Admit, Delivery, Gate, Running, run};
use sterna_seal::{
    LoadError, OpenError, Part, SealError, Sealed, Spill, ThreadEntropy, mint_flow_id_for,
};

use super::accept::{self, BegunFlow};
use super::incoming::{Incoming, RequestTarget};
use crate::core::{OperationMode, RouteCore};
use crate::cx::{Cx, RequestInfo};
use crate::declared::plain;
use crate::fault::Fault;
use crate::problem::{PROBLEMS, Problem};
use crate::resume::Resume;

/// Draws the id of a flow that begins.
pub(super) fn mint<S>(route: &RouteCore<S>, incoming: &Incoming) -> Result<FlowId, Fault> {
    let about = (
        route.resume.realm,
        incoming.caller.subject(),
        incoming.target.name(),
    );
    if let Some(draw) = &route.resume.flow_ids {
        return Ok(draw());
    }
    let flow = mint_flow_id_for(&about, route.resume.config.clock.now(), &mut ThreadEntropy);
    let flow = flow.map_err(|error| Fault::broken("no flow can be begun", &error))?;
    Ok(match &route.resume.store {
        Some(store) => store.place_flow(flow),
        None => flow,
    })
}

/// Opens the state that a retry brings.
pub(super) async fn open<S>(route: &RouteCore<S>, incoming: &Incoming) -> Result<FlowRound, Fault> {
    let resume = &route.resume;
    let token = incoming.resume.as_ref().map(|resume| &*resume.token);
    let token = token.ok_or(Fault::Internal)?;
    // A body that has no canonical form is not the one that the state was bound to.
    let binding = incoming.bind(resume);
    let binding = binding.map_err(|_| Fault::Refused(OpenError::OtherArguments.label()))?;
    let now = resume.config.clock.now();
    let opened = FlowRound::open(&resume.keys.current(), token, binding, now);
    match opened.map_err(refused)? {
        OpenedState::Inline(flow_round) => Ok(flow_round),
        OpenedState::Spilled(spilled) => {
            let spill = resume
                .store
                .as_deref()
                .map(|store| StoreSpill::new(store, now));
            let spill = spill.as_ref().map(|spill| spill as &dyn Spill);
            // Boxed: few states are in a blob, and it would make all rounds as large.
            Box::pin(spilled.load(spill))
                .await
                .map_err(|error| match error {
                    LoadError::Refused(reason) => refused(reason),
                    LoadError::NoStore => refused(OpenError::BlobGone),
                    error => Fault::broken("MR0404: a spilled state cannot be fetched", &error),
                })
        }
    }
}

/// Checks that the state of a round is one of a flow.
pub(super) fn check<S>(route: &RouteCore<S>, flow_round: &FlowRound) -> Result<(), Fault> {
    read(&route.resume, flow_round).map(drop)
}

/// Reads the journal of a round, and tells which build wrote it.
fn read<S>(resume: &Resume<S>, flow_round: &FlowRound) -> Result<(Journal, BuildMatch), Fault> {
    let Some(payload) = flow_round.payload().map_err(refused)? else {
        return Ok((Journal::new(), BuildMatch::Same));
    };
    let HandlerState::Journal(bytes) = payload.handler else {
        return Err(refused(OpenError::Unreadable));
    };
    let journal = Journal::decode(bytes, &resume.config.flow.limits);
    let build = match payload.build == resume.build {
        true => BuildMatch::Same,
        false => BuildMatch::Other,
    };
    Ok((journal.map_err(|_| refused(OpenError::Unreadable))?, build))
}

fn refused(reason: OpenError) -> Fault {
    Fault::Refused(reason.label())
}

/// Runs the handler until it ends, asks or becomes an operation.
pub(super) async fn play<S>(
    route: &Arc<RouteCore<S>>,
    mut incoming: Box<Incoming>,
    flow_round: FlowRound,
) -> Result<Response, Fault>
where
    S: Clone + Send + Sync + 'static,
{
    let (journal, build) = read(&route.resume, &flow_round)?;
    let member = incoming.resume.take();
    let answers = member.map(|member| asked_for(member.answers, &journal));
    // Moved out one by one: the target stays where it is.
    let (head, caller, target) = (incoming.head, incoming.caller, &incoming.target);
    let mut promoted = None;
    let info = match &route.operation {
        None => RequestInfo::new(caller),
        Some(operation) => {
            if incoming.respond_async.is_some() || operation.mode == OperationMode::Always {
                let answers = answers.unwrap_or_default();
                let begun = BegunFlow {
                    flow: flow_round.flow(),
                    caller,
                };
                let accepting = accept::at_once(
                    route,
                    operation,
                    &begun,
                    (head, target),
                    (&journal, answers),
                );
                // Boxed: few requests are operations, and it would make all rounds as large.
                return Box::pin(accepting).await;
            }
            // Kept for a handler that becomes an operation.
            promoted = Some((operation, head.clone()));
            RequestInfo::promotable(caller)
        }
    };
    let info = Arc::new(info);
    let request = Request::from_parts(head, Body::from(target.body.clone()));
    let mut driver = start(route, request, &info, &flow_round, journal, build)?;
    for (key, answer) in answers.into_iter().flatten() {
        // One that does not count (it came too late, it was given before) is ignored.
        driver.answer(&key, answer, route.resume.config.clock.now());
    }
    let mut delivery = RoundTrip {
        route,
        info: &info,
        questions: BTreeMap::new(),
    };
    // Every client can be asked, so no flow is suspended and started again.
    let resume = |_| Err(Fault::Internal);
    let outcome = run(&mut driver, &mut delivery, resume).await?;
    let RoundTrip { questions, .. } = delivery;
    let journal = match outcome {
        Outcome::Finished(response) | Outcome::Failed(response) => {
            route.resume.metrics.count_finished();
            return Ok(response);
        }
        Outcome::Stopped(error) => return Err(stopped(target, &error)),
        Outcome::Shed(journal) => {
            let (operation, head) = promoted.ok_or(Fault::Internal)?;
            drop(driver);
            let begun = BegunFlow {
                flow: flow_round.flow(),
                caller: info.caller.clone(),
            };
            let promoting = accept::promote(route, operation, &begun, (head, target), &journal);
            return Box::pin(promoting).await;
        }
        Outcome::Suspended(suspended) => suspended.journal,
        // A flow is cancelled by dropping it; another outcome is not one of a round trip.
        _ => return Err(Fault::Internal),
    };
    // Not kept while the state is sealed: a future is as large as all that it holds then.
    drop(driver);
    tell_undeclared(route, target, &questions);
    if has_no_attempt_left(route, &questions, &journal) {
        return Err(Fault::Attempts);
    }
    // Boxed: most requests end before.
    let sealed = Box::pin(seal(route, &info, target, &flow_round, &journal));
    let sealed = sealed.await?;
    route.resume.metrics.count_paused();
    Ok(paused(route, &questions, &sealed))
}

/// Returns the answers to questions that were asked, as they are handed in.
fn asked_for(answers: BTreeMap<String, Box<RawValue>>, journal: &Journal) -> Vec<(String, Bytes)> {
    let was_asked = |key: &str| {
        journal
            .asked()
            .iter()
            .any(|asked| asked.key.as_str() == key)
    };
    let answers = answers.into_iter().filter(|(key, _)| was_asked(key));
    let bytes = |answer: Box<RawValue>| Bytes::from(String::from(Box::<str>::from(answer)));
    answers.map(|(key, answer)| (key, bytes(answer))).collect()
}

fn start<S>(
    route: &Arc<RouteCore<S>>,
    request: Request,
    info: &Arc<RequestInfo>,
    flow_round: &FlowRound,
    journal: Journal,
    build: BuildMatch,
) -> Result<Running<Response, Response>, Fault>
where
    S: Clone + Send + Sync + 'static,
{
    let engine = engine(route)?;
    let mut run = Run::new(engine, flow_round.flow()).resume(journal, flow_round.number(), build);
    if let Some(subject) = info.caller.subject() {
        run = run.principal(subject);
    }
    let state = route.resume.state.clone();
    let handler = &route.handler;
    Ok(run.drive(|cx| handler.start(Cx::new(cx, Arc::clone(info)), request, state)))
}

/// Returns the engine of one run, with a ledger if there is a store.
fn engine<S>(route: &RouteCore<S>) -> Result<Arc<Engine>, Fault> {
    let resume = &route.resume;
    let Some(store) = &resume.store else {
        return Ok(Arc::clone(&resume.engine));
    };
    let engine = with_store(&resume.engine, store, route.effects_lifetime());
    engine.map_err(|error| Fault::broken("no effect can be claimed", &error))
}

/// Ends the request with the questions; a retry brings the answers.
struct RoundTrip<'a, S> {
    route: &'a RouteCore<S>,
    info: &'a RequestInfo,
    questions: BTreeMap<String, Bytes>,
}

impl<S> Gate<OpenQuestion> for RoundTrip<'_, S> {
    type Question = Bytes;
    type Error = Fault;

    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<Bytes>, Fault> {
        Ok(Admit::Send(question.request.clone()))
    }

    fn lacking(&mut self) -> Option<Fault> {
        None
    }

    fn send(&mut self, open: &OpenQuestion, question: Bytes) -> Result<(), Fault> {
        self.questions
            .insert(open.key.as_str().to_owned(), question);
        Ok(())
    }
}

impl<S> Delivery for RoundTrip<'_, S> {
    const SENDS_WHILE_RUNNING: bool = false;

    fn now(&self) -> UnixMillis {
        self.route.resume.config.clock.now()
    }

    fn may_continue(&self) -> bool {
        !self.info.wants_task()
    }

    fn misuse(&self) -> Option<Fault> {
        let mistake = self.info.mistake()?;
        tracing::error!(target: "sterna::axum", "MR0201: {mistake}");
        Some(Fault::Internal)
    }

    fn report(&self, diagnostic: Diagnostic) {
        tracing::warn!(target: "sterna::axum", "{diagnostic}");
    }

    fn withdraw(&mut self, _key: &Key) {}
}

fn stopped(target: &RequestTarget, error: &Error) -> Fault {
    let (method, route) = target.name();
    if let Error::OtherAnswers { .. } = error {
        tracing::info!(target: "sterna::axum", method, route, "{error}");
        return Fault::Refused("other_answers");
    }
    // The text may hold what a panic said; it is for the author alone.
    tracing::error!(target: "sterna::axum", method, route, "{error}");
    match error {
        Error::RoundsExhausted { .. } => Fault::Rounds,
        Error::StateVersion { .. } => refused(OpenError::Unreadable),
        _ => Fault::Internal,
    }
}

/// Returns `true` if the flow asks for a secret again that was answered as often
/// as it may be.
///
/// The ledger lets each round be answered once, so the answers in the journal
/// are all that were ever looked at in this flow.
fn has_no_attempt_left<S>(
    route: &RouteCore<S>,
    questions: &BTreeMap<String, Bytes>,
    journal: &Journal,
) -> bool {
    let most = route.resume.config.attempts as usize;
    let secret = |key: &str| route.question(key).filter(|question| question.is_secret);
    questions.keys().any(|asked| {
        let Some(secret) = secret(asked) else {
            return false;
        };
        let entries = journal.entries().iter();
        let answers = entries.filter(|entry| entry.kind() == Kind::Answer);
        let answers = answers.filter(|entry| secret.is_asked_by(entry.key().as_str()));
        answers.count() >= most
    })
}

/// Notes questions that the route does not declare: clients that are generated
/// from its description do not expect them, and a secret is not counted.
fn tell_undeclared<S>(
    route: &RouteCore<S>,
    target: &RequestTarget,
    questions: &BTreeMap<String, Bytes>,
) {
    for (key, question) in questions {
        let declared = route.question(key);
        let is_declared = declared.is_some_and(|declared| {
            let question: Value = serde_json::from_slice(question).unwrap_or_default();
            question["schema"] == declared.shown
        });
        if is_declared {
            continue;
        }
        let (method, path) = target.name();
        let other = if declared.is_some() {
            " of another type"
        } else {
            ""
        };
        let asks = format!("{method} {path} asks `{}`{other}", plain(key));
        if route.resume.metrics.note_undeclared(asks.clone()) {
            tracing::warn!(
                target: "sterna::axum",
                "MR0630: {asks}, which it does not declare"
            );
        }
    }
}

async fn seal<S>(
    route: &RouteCore<S>,
    info: &RequestInfo,
    target: &RequestTarget,
    flow_round: &FlowRound,
    journal: &Journal,
) -> Result<Sealed, Fault> {
    let resume = &route.resume;
    let now = resume.config.clock.now();
    let spill = resume
        .store
        .as_deref()
        .map(|store| StoreSpill::new(store, now));
    let spill = spill.as_ref().map(|spill| spill as &dyn Spill);
    let sealing = {
        let payload = StatePayload {
            build: resume.build,
            sheds: 0,
            trace: [0; 16],
            handler: HandlerState::Journal(journal.encode()),
        };
        let parts = || {
            let entries = journal.entries().iter();
            entries
                .map(|entry| Part::new(entry.key().as_str(), entry.value().len()))
                .collect()
        };
        let request = StateRequest {
            payload: &payload,
            lifetimes: resume.config.lifetimes,
            budget: resume.config.budget,
            parts: &parts,
        };
        let bind = || target.bind(resume, &info.caller);
        flow_round.seal(&resume.keys.current(), &request, bind, now, spill)?
    };
    let bytes = sealing.payload_bytes();
    match sealing.finish().await {
        Ok(sealed) => {
            if sealed.over_warn_budget {
                let (method, route) = target.name();
                tracing::warn!(
                    target: "sterna::axum",
                    method, route, bytes,
                    "MR0202: a flow makes its client carry a heavy state"
                );
            }
            Ok(sealed)
        }
        // The flow is as old as it may get; the client must start over.
        Err(SealError::FlowEnded(at)) => Err(refused(OpenError::FlowExpired(at))),
        Err(error) => Err(Fault::broken("MR0203: a state cannot be sealed", &error)),
    }
}

/// Returns the response with the questions and the state.
fn paused<S>(
    route: &RouteCore<S>,
    questions: &BTreeMap<String, Bytes>,
    sealed: &Sealed,
) -> Response {
    let questions = questions.iter().filter_map(|(key, question)| {
        let question: Value = serde_json::from_slice(question).ok()?;
        Some((key.clone(), question))
    });
    let questions: serde_json::Map<_, _> = questions.collect();
    let messages = questions
        .values()
        .filter_map(|question| question["message"].as_str());
    let detail = messages.collect::<Vec<_>>().join("\n");
    Problem::new(route.resume.config.paused_status, "Input required")
        .kind(format!("{PROBLEMS}input-required"))
        .detail(detail)
        .with("questions", questions)
        .with("resume", &*sealed.token)
        .with("expiresAt", sealed.expires_at.to_string())
        .into_response()
}
