//! A round of a handler that is straight-line code.

use std::sync::Arc;

use bytes::Bytes;
use sterna_flow::{
    Build, Driver, Engine, Error, FlowId, Journal, Outcome as Ending, Run, Suspended, Way,
};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::input::{InputRequests, InputRequired};
use sterna_protocol::json::RawJson;
use sterna_protocol::result::Outcome;
use sterna_seal::{OpenError, Part};

use super::clock::flow_now;
use super::drive::drive;
use super::low_level::only;
use super::token::{Carried, Kept, Thread, refused};
use super::{Played, Round, asking, gate};
use crate::cx::{CANNOT_ASK, Cx};
use crate::failure::Failure;
use crate::handler::Straight;
use crate::tasks::Opening;

type Running<T> = Driver<'static, dyn Future<Output = Result<T, Failure>> + Send>;

pub(super) async fn play<T: Send + 'static>(
    mut round: Box<Round>,
    handler: &Straight<T>,
) -> Result<Played<T>, Failure> {
    let thread = Thread::take_up(&round).await?;
    let (before, mut journal) = Before::read(&thread, &round)?;
    let mut answers = client_answers(&mut round, &journal)?;
    // Waits behind the loop, where the driver is gone: a future is as large as all that it
    // keeps while it waits.
    let rest = loop {
        let mut driver = start(&round, &thread, &before, journal, handler)?;
        // They came in one request, so at one moment.
        let at = flow_now();
        for (key, answer) in answers {
            // One that does not count (it came too late, it was given before) is
            // ignored, as the spec wants it.
            driver.answer(&key, answer, at);
        }
        let may_stay = || {
            let stays = before.sheds >= MAX_SHEDS || round.core.may_stay(&round.shutdown);
            stays && !round.request.wants_task()
        };
        let ending = drive(&mut driver, may_stay).await;
        log_diagnostics(&round, &mut driver);
        if let Some(mistake) = round.request.mistake() {
            tracing::error!(target: "sterna::rounds", name = round.shown(), "MR0201: {mistake}");
            return Err(Failure::Internal);
        }
        match ending {
            Ending::Finished(result) => return Ok(Outcome::Complete(result)),
            Ending::Failed(failure) => return Err(failure),
            Ending::Stopped(error) => return Err(stopped(&round, &error)),
            Ending::Shed(journal) if round.request.wants_task() => break Rest::Task(journal),
            Ending::Shed(journal) => {
                let sheds = before.sheds + 1;
                break Rest::Later(sheds, InputRequests::new(), journal);
            }
            Ending::Suspended(suspended) => match sort_out(&round, suspended)? {
                Sorted::Ask(requests, journal) => break Rest::Later(0, requests, journal),
                Sorted::Answered(keys, now) => {
                    let cannot = Bytes::from_static(CANNOT_ASK);
                    answers = keys.into_iter().map(|key| (key, cannot.clone())).collect();
                    journal = now;
                }
            },
            // Nobody cancels a flow but by dropping it; whatever else comes is not ours.
            _ => return Err(Failure::Internal),
        }
    };
    match rest {
        Rest::Later(sheds, requests, journal) => {
            suspend(&round, &thread, sheds, requests, &journal).await
        }
        Rest::Task(journal) => Box::pin(become_task(&round, &thread, &journal)).await,
    }
}

/// How a flow goes on that this round does not end.
enum Rest {
    /// With another round, after being sent away so often and with what is
    /// asked.
    Later(u8, InputRequests, Journal),
    Task(Journal),
}

/// What the rounds before have left, besides their journal.
struct Before {
    build: Build,
    sheds: u8,
}

impl Before {
    fn read(thread: &Thread, round: &Round) -> Result<(Self, Journal), Failure> {
        let Some(kept) = thread.kept(round)? else {
            let begins = Self {
                build: Build::Same,
                sheds: 0,
            };
            return Ok((begins, Journal::new()));
        };
        let Carried::Journal(bytes) = kept.carried else {
            return Err(refused(&round.core, OpenError::Unreadable));
        };
        let journal = Journal::decode(bytes, &round.core.limits)
            .map_err(|_| refused(&round.core, OpenError::Unreadable))?;
        let before = Self {
            build: if kept.build == round.core.build {
                Build::Same
            } else {
                Build::Other
            },
            sheds: kept.sheds,
        };
        Ok((before, journal))
    }
}

/// The answers to what was asked, as they are to be handed in.
fn client_answers(round: &mut Round, journal: &Journal) -> Result<Vec<(String, Bytes)>, Failure> {
    let responses = round.responses.take().unwrap_or_default();
    let asked = |key: &str| {
        journal
            .asked()
            .iter()
            .any(|asked| asked.key.as_str() == key)
    };
    let owned = |(key, answer): (&str, &RawJson)| {
        let answer = Bytes::copy_from_slice(answer.as_str().as_bytes());
        (key.to_owned(), answer)
    };
    only(&responses, asked)
        .map(|answer| answer.map(owned))
        .collect()
}

fn start<T: Send + 'static>(
    round: &Round,
    thread: &Thread,
    before: &Before,
    journal: Journal,
    handler: &Straight<T>,
) -> Result<Running<T>, Failure> {
    let flow = FlowId::new(thread.flow.to_bytes());
    let run = Run::new(engine(round)?, flow).resume(journal, thread.round, before.build);
    Ok(drive_as(round, run, handler))
}

/// Starts a handler whose client is asked while it waits.
pub(super) fn start_live<T: Send + 'static>(
    round: &Round,
    thread: &Thread,
    handler: &Straight<T>,
) -> Result<Running<T>, Failure> {
    let flow = FlowId::new(thread.flow.to_bytes());
    let run = Run::new(engine(round)?, flow).way(Way::Legacy);
    Ok(drive_as(round, run, handler))
}

/// The engine of this call, with the ledger if there is a store.
fn engine(round: &Round) -> Result<Arc<Engine>, Failure> {
    match &round.core.tasks {
        None => Ok(Arc::clone(&round.core.engine)),
        Some(tasks) => tasks
            .engine(&round.core.engine)
            .map_err(|_| Failure::Internal),
    }
}

fn drive_as<T: Send + 'static>(round: &Round, mut run: Run, handler: &Straight<T>) -> Running<T> {
    if let Some(subject) = round.request.caller().principal().subject() {
        run = run.principal(subject);
    }
    if let Some(reporter) = round.request.reporter() {
        run = run.listener(Arc::clone(reporter) as _);
    }
    let request = round.request.clone();
    run.drive(|cx| handler(Cx::new(cx, request), &round.input))
}

/// Goes on as a task: what was done so far is its journal (TASK-S6).
async fn become_task<T>(
    round: &Round,
    thread: &Thread,
    journal: &Journal,
) -> Result<Played<T>, Failure> {
    let tasks = round.core.tasks.as_ref().ok_or(Failure::Internal)?;
    let wish = round.request.wish().ok_or(Failure::Internal)?;
    let opening = Opening {
        caller: round.request.caller(),
        meta: round.request.meta().clone(),
        tool: &round.target.name,
        arguments: (*round.input).clone(),
        ttl: wish.ttl,
        begun: Some((thread.flow.to_bytes(), journal)),
    };
    let created = tasks.create(&round.core, opening, wish).await?;
    Ok(Outcome::Extension(created))
}

/// What becomes of the questions of a flow that waits.
enum Sorted {
    /// All of them go to the client.
    Ask(InputRequests, Journal),
    /// These have been answered in place of a client that cannot be asked.
    Answered(Vec<String>, Journal),
}

/// Sorts the open questions by what this client can be asked. What it cannot
/// be asked and what has no fallback is an error (BASE-S14).
fn sort_out(round: &Round, suspended: Suspended) -> Result<Sorted, Failure> {
    let client = round.request.capabilities();
    let mut requests = InputRequests::new();
    let mut answered = Vec::new();
    let mut needed = ClientCapabilities::default();
    for question in suspended.questions {
        let envelope = round.request.posed().take(&question.request);
        let envelope = envelope.ok_or(Failure::Internal)?;
        gate::check(&envelope.request)?;
        let key = question.key.as_str();
        match gate::missing(client, &envelope.request) {
            None => {
                requests.insert(key, envelope.request);
            }
            Some(_) if envelope.has_fallback => answered.push(key.to_owned()),
            Some(missing) => gate::add(&mut needed, missing),
        }
    }
    if needed != ClientCapabilities::default() {
        return Err(Failure::Capability(Box::new(needed)));
    }
    Ok(if answered.is_empty() {
        Sorted::Ask(requests, suspended.journal)
    } else {
        Sorted::Answered(answered, suspended.journal)
    })
}

async fn suspend<T>(
    round: &Round,
    thread: &Thread,
    sheds: u8,
    requests: InputRequests,
    journal: &Journal,
) -> Result<Played<T>, Failure> {
    let kept = Kept {
        build: round.core.build,
        sheds,
        trace: thread.trace(round),
        carried: Carried::Journal(journal.encode()),
    };
    let parts = || {
        let entries = journal.entries().iter();
        entries
            .map(|entry| Part::new(entry.key().as_str(), entry.value().len()))
            .collect()
    };
    let sealing = thread.seal(round, &kept, &parts)?;
    let state = sealing.await?;
    let required = InputRequired::new(requests, Some(state));
    asking(round, required.expect("there is a state"))
}

pub(super) fn stopped(round: &Round, error: &Error) -> Failure {
    // The text may hold what a panic said; it is for the log alone.
    tracing::error!(target: "sterna::rounds", name = round.shown(), "{error}");
    match error {
        Error::RoundsExhausted { .. } => Failure::Rounds,
        Error::StateVersion { .. } => refused(&round.core, OpenError::Unreadable),
        _ => Failure::Internal,
    }
}

pub(super) fn log_diagnostics<T>(round: &Round, driver: &mut Running<T>) {
    for diagnostic in driver.take_diagnostics() {
        tracing::warn!(target: "sterna::rounds", name = round.shown(), "{diagnostic}");
    }
}

/// How often in a row an instance may send a flow away: a client that is sent
/// to and fro without end gives up.
const MAX_SHEDS: u8 = 2;
