//! A request whose client stays on the line and is asked while it waits: the
//! way of the older revisions. The handler is the same, and it runs once.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sterna_flow::{Driver, Outcome as Ending};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::input::InputRequest;
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::result::Outcome;
use tokio::time::Sleep;

use super::clock::flow_now;
use super::flow::{log_diagnostics, stopped};
use super::low_level::guarded;
use super::token::Thread;
use super::{Round, charge, gate};
use crate::call::{Answers, Call};
use crate::cx::CANNOT_ASK;
use crate::failure::Failure;
use crate::handler::{LowLevel, Straight};

/// The client at the other end, as far as it can be asked.
///
/// Whoever answers it, and wherever that answer arrives, is behind this trait.
pub(crate) trait Line: Send + Sync {
    /// A question that is out. Dropping it takes the question back.
    type Asking: Future<Output = Result<RawJson, Failure>> + Send + Unpin;

    /// Puts a question to the client.
    fn ask(&self, request: InputRequest) -> Result<Self::Asking, Failure>;
}

type Running<T> = Driver<'static, dyn Future<Output = Result<T, Failure>> + Send>;

pub(super) async fn flow<T: Send + 'static, L: Line>(
    round: Box<Round>,
    handler: &Straight<T>,
    line: &L,
) -> Result<T, Failure> {
    let thread = Thread::take_up(&round).await?;
    let mut driver = super::flow::start_live(&round, &thread, handler)?;
    let mut open: BTreeMap<String, L::Asking> = BTreeMap::new();
    let mut timer = pin!(None::<Sleep>);
    let ending = poll_fn(|cx| -> Poll<Result<_, Failure>> {
        loop {
            if let Poll::Ready(ending) = driver.poll(flow_now(), cx) {
                return Poll::Ready(Ok(ending));
            }
            let fallen_back = put(&round, &mut driver, &mut open, line)?;
            if take(&mut driver, &mut open, cx)? || fallen_back {
                continue;
            }
            let Some(wake) = driver.next_wake() else {
                timer.set(None);
                return Poll::Pending;
            };
            timer.set(Some(tokio::time::sleep(flow_now().until(wake))));
            let over = timer.as_mut().as_pin_mut();
            if !over.is_some_and(|timer| timer.poll(cx).is_ready()) {
                return Poll::Pending;
            }
        }
    })
    .await?;
    log_diagnostics(&round, &mut driver);
    match ending {
        Ending::Finished(result) => Ok(result),
        Ending::Failed(failure) => Err(failure),
        Ending::Stopped(error) => Err(stopped(&round, &error)),
        _ => Err(Failure::Internal),
    }
}

/// Brings the handler's questions to the client, and takes back those it does
/// not ask any more. Says whether the handler has something to go on with.
fn put<T, L: Line>(
    round: &Round,
    driver: &mut Running<T>,
    open: &mut BTreeMap<String, L::Asking>,
    line: &L,
) -> Result<bool, Failure> {
    if let Some(mistake) = round.request.mistake() {
        tracing::error!(target: "sterna::rounds", name = round.shown(), "MR0201: {mistake}");
        return Err(Failure::Internal);
    }
    let changes = driver.changes();
    for key in &changes.withdrawn {
        open.remove(key.as_str());
    }
    let client = round.request.capabilities();
    let mut moved = false;
    let mut needed = ClientCapabilities::default();
    for question in changes.opened {
        let envelope = round.request.posed().take(&question.request);
        let envelope = envelope.ok_or(Failure::Internal)?;
        gate::check(&envelope.request)?;
        let key = question.key.as_str();
        match gate::missing(client, &envelope.request) {
            None => {
                charge(round, 1)?;
                open.insert(key.to_owned(), line.ask(envelope.request)?);
            }
            Some(_) if envelope.has_fallback => {
                moved |= driver.answer(key, Bytes::from_static(CANNOT_ASK), flow_now());
            }
            Some(missing) => gate::add(&mut needed, missing),
        }
    }
    if needed == ClientCapabilities::default() {
        Ok(moved)
    } else {
        Err(Failure::Capability(Box::new(needed)))
    }
}

/// Hands in the answers that have come.
fn take<T, A>(
    driver: &mut Running<T>,
    open: &mut BTreeMap<String, A>,
    cx: &mut Context<'_>,
) -> Result<bool, Failure>
where
    A: Future<Output = Result<RawJson, Failure>> + Unpin,
{
    let mut answers = VecDeque::new();
    for (key, asking) in open.iter_mut() {
        if let Poll::Ready(answer) = Pin::new(asking).poll(cx) {
            answers.push_back((key.clone(), answer?));
        }
    }
    let moved = !answers.is_empty();
    for (key, answer) in answers {
        open.remove(&key);
        driver.answer(&key, answer.as_str().as_bytes().to_vec(), flow_now());
    }
    Ok(moved)
}

pub(super) async fn low_level<T: Send + 'static, L: Line>(
    round: Box<Round>,
    handler: &LowLevel<T>,
    line: &L,
) -> Result<T, Failure> {
    let mut answers = JsonObject::new();
    let mut state: Option<Arc<str>> = None;
    for turn in 0..MOST_TURNS {
        let input = Arc::clone(&round.input);
        let call = Call::new(round.request.clone(), input, state, turn);
        let required = match guarded(|| handler(call, Answers::new(answers))).await? {
            Outcome::Complete(result) => return Ok(result),
            Outcome::InputRequired(required) => required,
            Outcome::Extension(none) => match none {},
        };
        let client = round.request.capabilities();
        let mut missing = ClientCapabilities::default();
        for (_, question) in required.requests().iter() {
            gate::check(question)?;
            if let Some(more) = gate::missing(client, question) {
                gate::add(&mut missing, more);
            }
        }
        if missing != ClientCapabilities::default() {
            return Err(Failure::Capability(Box::new(missing)));
        }
        charge(&round, required.requests().len())?;
        // All are out before the first is waited for.
        let mut asked = Vec::new();
        for (key, question) in required.requests().iter() {
            asked.push((key, line.ask(question.clone())?));
        }
        answers = JsonObject::new();
        for (key, asking) in asked {
            answers.insert(key, asking.await?);
        }
        state = required.state().map(|state| Arc::from(state.as_str()));
    }
    Err(Failure::Rounds)
}

/// How often a low-level handler may ask within one request. Far more than any
/// dialogue with a person, and an end to one that does not end.
const MOST_TURNS: u32 = 100;
