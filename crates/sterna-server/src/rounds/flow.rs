//! A round of a flow: replays it, and ends the request with its result or its
//! questions.

use std::sync::Arc;

use bytes::Bytes;
use sterna_flow::{
    BuildMatch, Diagnostic, Engine, Error, ExecutionMode, Journal, Key, OpenQuestion,
    Outcome as Ending, Run, UnixMillis,
};
use sterna_protocol::input::InputResponses;
use sterna_protocol::json::RawJson;
use sterna_protocol::result::Outcome;
use sterna_runner::state::{FlowRound, HandlerState, StatePayload};
use sterna_runner::{Admit, Delivery, Gate, Running, run};
use sterna_seal::{OpenError, Part};

use super::gate::Lacking;
use super::low_level::only;
use super::state::{self, refused, take_up};
use super::{Continued, Played, Round, charge};
use crate::call::{AskedQuestions, QuestionContent, Questions};
use crate::cx::Cx;
use crate::failure::Failure;
use crate::handler::FlowHandler;
use crate::tasks::NewTaskRequest;

pub(super) async fn play<T: Send + 'static>(
    mut round: Box<Round>,
    handler: &FlowHandler<T>,
) -> Result<Played<T>, Failure> {
    let flow_round = take_up(&mut round).await?;
    // A future is as large as all that it has room for while it waits, so what is not needed
    // then is in a block of its own.
    let continuation = {
        let (before, mut driver) = {
            let (before, journal) = EarlierRounds::read(&flow_round, &round)?;
            let responses = round.responses.take().unwrap_or_default();
            let answers = client_answers(&responses, &journal)?;
            let engine = engine(&round)?;
            let mut driver = start(engine, &round, &flow_round, &before, journal, handler);
            if !answers.is_empty() {
                hand_in(&mut driver, answers, round.core.now());
            }
            (before, driver)
        };
        let mut delivery = RoundTripDelivery {
            round: &round,
            sheds: before.sheds,
            questions: Questions::default(),
            lacking: Lacking::default(),
        };
        let resume = |journal| {
            let engine = engine(&round)?;
            Ok(start(
                engine,
                &round,
                &flow_round,
                &before,
                journal,
                handler,
            ))
        };
        match run(&mut driver, &mut delivery, resume).await? {
            Ending::Finished(result) => return Ok(Outcome::Complete(result)),
            Ending::Failed(failure) => return Err(failure),
            Ending::Stopped(error) => return Err(stopped(&round, &error)),
            Ending::Shed(journal) if round.request.wants_task() => Continuation::Task(journal),
            Ending::Shed(journal) => {
                Continuation::Retry(before.sheds + 1, Questions::default(), journal)
            }
            Ending::Suspended(suspended) => {
                Continuation::Retry(0, delivery.questions, suspended.journal)
            }
            // A flow is cancelled by dropping it; another outcome is not one of a round trip.
            _ => return Err(Failure::Internal),
        }
    };
    let sealing = match continuation {
        Continuation::Retry(sheds, questions, journal) => {
            suspend(&round, &flow_round, sheds, questions, &journal)?
        }
        Continuation::Task(journal) => {
            return Box::pin(become_task(&round, &flow_round, &journal)).await;
        }
    };
    sealing.await
}

/// Continuation of a flow that this round does not end.
enum Continuation {
    /// Another round: the number of times in a row that the flow was handed over,
    /// its questions, and its journal.
    Retry(u8, Questions, Journal),
    Task(Journal),
}

/// Facts from the state of the round before, besides the journal.
struct EarlierRounds {
    build: BuildMatch,
    sheds: u8,
}

impl EarlierRounds {
    fn read(flow_round: &FlowRound, round: &Round) -> Result<(Self, Journal), Failure> {
        let Some(payload) = state::payload(round, flow_round)? else {
            let begins = Self {
                build: BuildMatch::Same,
                sheds: 0,
            };
            return Ok((begins, Journal::new()));
        };
        let HandlerState::Journal(bytes) = payload.handler else {
            return Err(refused(&round.core, OpenError::Unreadable));
        };
        let journal = Journal::decode(bytes, &round.core.limits)
            .map_err(|_| refused(&round.core, OpenError::Unreadable))?;
        let before = Self {
            build: if payload.build == round.core.build {
                BuildMatch::Same
            } else {
                BuildMatch::Other
            },
            sheds: payload.sheds,
        };
        Ok((before, journal))
    }
}

/// Checks that the round can be served: its state is one of a flow, and its
/// answers are well-formed.
pub(super) fn check(round: &Round, flow_round: &FlowRound) -> Result<(), Failure> {
    let (_, journal) = EarlierRounds::read(flow_round, round)?;
    match &round.responses {
        None => Ok(()),
        Some(responses) => client_answers(responses, &journal).map(drop),
    }
}

/// Returns the answers to questions that were asked, as they are handed in.
fn client_answers<'r>(
    responses: &'r InputResponses,
    journal: &Journal,
) -> Result<Vec<(&'r str, Bytes)>, Failure> {
    let asked = |key: &str| {
        journal
            .asked()
            .iter()
            .any(|asked| asked.key.as_str() == key)
    };
    let owned = |(key, answer): (&'r str, &RawJson)| {
        let answer = Bytes::copy_from_slice(answer.as_str().as_bytes());
        (key, answer)
    };
    only(responses, asked)
        .map(|answer| answer.map(owned))
        .collect()
}

/// Hands in the answers of a request.
fn hand_in<T>(driver: &mut Running<T, Failure>, answers: Vec<(&str, Bytes)>, at: UnixMillis) {
    for (key, answer) in answers {
        // One that does not count (it came too late, it was given before) is ignored, as the
        // spec wants it.
        driver.answer(key, answer, at);
    }
}

fn start<T: Send + 'static>(
    engine: Arc<Engine>,
    round: &Round,
    flow_round: &FlowRound,
    before: &EarlierRounds,
    journal: Journal,
    handler: &FlowHandler<T>,
) -> Running<T, Failure> {
    let flow = flow_round.flow();
    let run = Run::new(engine, flow).resume(journal, flow_round.number(), before.build);
    drive_as(round, run, handler)
}

/// Starts a handler whose client is asked while it waits.
pub(super) fn start_live<T: Send + 'static>(
    round: &Round,
    flow_round: &FlowRound,
    handler: &FlowHandler<T>,
) -> Result<Running<T, Failure>, Failure> {
    let flow = flow_round.flow();
    let run = Run::new(engine(round)?, flow).mode(ExecutionMode::Legacy);
    Ok(drive_as(round, run, handler))
}

/// Returns the engine of this call, with a ledger if there is a store.
fn engine(round: &Round) -> Result<Arc<Engine>, Failure> {
    match &round.core.tasks {
        None => Ok(Arc::clone(&round.core.engine)),
        Some(tasks) => {
            let tool = round.core.offers.tools.get(&round.target.name);
            let flow = round.target.lifetimes.flow;
            let lifetime = tasks.lifetime(flow, tool.map(|tool| &tool.task));
            tasks
                .engine(&round.core.engine, lifetime)
                .map_err(|_| Failure::Internal)
        }
    }
}

fn drive_as<T: Send + 'static>(
    round: &Round,
    mut run: Run,
    handler: &FlowHandler<T>,
) -> Running<T, Failure> {
    if let Some(subject) = round.request.caller().principal().subject() {
        run = run.principal(subject);
    }
    if let Some(reporter) = round.request.reporter() {
        run = run.listener(Arc::clone(reporter) as _);
    }
    let request = round.request.clone();
    run.drive(|cx| handler(Cx::new(cx, request), round.input()))
}

/// Makes the flow a task that goes on from its journal (TASK-S6).
async fn become_task<T>(
    round: &Round,
    flow_round: &FlowRound,
    journal: &Journal,
) -> Result<Played<T>, Failure> {
    let tasks = round.core.tasks.as_ref().ok_or(Failure::Internal)?;
    let options = round.request.task_options().ok_or(Failure::Internal)?;
    let opening = NewTaskRequest {
        caller: round.request.caller(),
        meta: round.request.meta().clone(),
        tool: &round.target.name,
        arguments: round.input().tree().into_owned(),
        tool_ttl: round.core.task_ttl(&round.target.name),
        ttl: options.ttl,
        begun: Some((flow_round.flow(), journal)),
    };
    let created = tasks
        .create(opening, options, round.core.result_meta())
        .await?;
    Ok(Outcome::Extension(Continued::Task(Box::new(created))))
}

/// Ends the request with the questions; a retry brings the answers.
struct RoundTripDelivery<'a> {
    round: &'a Round,
    /// Times that the flow has been handed over in a row.
    sheds: u8,
    questions: Questions,
    lacking: Lacking,
}

impl Gate<OpenQuestion> for RoundTripDelivery<'_> {
    type Question = QuestionContent;
    type Error = Failure;

    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<QuestionContent>, Failure> {
        let round = self.round;
        let target = round.target.parts();
        self.lacking
            .admit(&round.core, &round.request, target, question)
    }

    fn lacking(&mut self) -> Option<Failure> {
        self.lacking.failure()
    }

    fn charge(&mut self, questions: usize) -> Result<(), Failure> {
        charge(self.round, questions)
    }

    fn send(&mut self, open: &OpenQuestion, question: QuestionContent) -> Result<(), Failure> {
        self.questions.insert(open.key.as_str(), question);
        Ok(())
    }
}

impl Delivery for RoundTripDelivery<'_> {
    const SENDS_WHILE_RUNNING: bool = false;

    fn now(&self) -> UnixMillis {
        self.round.core.now()
    }

    fn may_continue(&self) -> bool {
        let Round {
            core,
            request,
            shutdown,
            ..
        } = self.round;
        let stays = self.sheds >= MAX_SHEDS || core.may_stay(shutdown);
        stays && !request.wants_task()
    }

    fn misuse(&self) -> Option<Failure> {
        self.round.misuse()
    }

    fn report(&self, diagnostic: Diagnostic) {
        self.round.report(&diagnostic);
    }

    fn withdraw(&mut self, _key: &Key) {}
}

/// Seals the state of a flow that waits for its client.
fn suspend<'r, T>(
    round: &'r Round,
    flow_round: &FlowRound,
    sheds: u8,
    questions: Questions,
    journal: &Journal,
) -> Result<impl Future<Output = Result<Played<T>, Failure>> + Send + use<'r, T>, Failure> {
    let payload = StatePayload {
        build: round.core.build,
        sheds,
        trace: state::trace(round, flow_round),
        handler: HandlerState::Journal(journal.encode()),
    };
    let parts = || {
        let entries = journal.entries().iter();
        entries
            .map(|entry| Part::new(entry.key().as_str(), entry.value().len()))
            .collect()
    };
    let sealing = state::seal(round, flow_round, &payload, &parts)?;
    Ok(async move {
        let asked = AskedQuestions::new(questions, sealing.await?);
        Ok(Outcome::Extension(Continued::Asking(asked)))
    })
}

pub(super) fn stopped(round: &Round, error: &Error) -> Failure {
    if let Error::OtherAnswers { .. } = error {
        tracing::info!(target: "sterna::rounds", name = round.shown(), "{error}");
        return Failure::State;
    }
    // The text may hold what a panic said; it is for the author alone.
    tracing::error!(target: "sterna::rounds", name = round.shown(), "{error}");
    match error {
        Error::RoundsExhausted { .. } => Failure::Rounds,
        Error::StateVersion { .. } => refused(&round.core, OpenError::Unreadable),
        // These are no mistakes of the author: something outside did not do its work.
        Error::Plug { .. } | Error::Transient { .. } => Failure::Internal,
        mistake => round.core.mistaken(mistake),
    }
}

/// Number of times in a row that an instance may hand a flow over: a client that
/// is sent to and fro without end gives up.
const MAX_SHEDS: u8 = 2;
