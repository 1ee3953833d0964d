//! A round of a handler that returns its questions itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::input::{InputRequired, InputResponses};
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::result::Outcome;
use sterna_seal::OpenError;

use super::token::{Carried, Kept, Thread, refused};
use super::{Played, Round, asking, gate};
use crate::call::{Answers, Call};
use crate::failure::Failure;
use crate::handler::{Boxed, LowLevel};

pub(super) async fn play<T: Send + 'static>(
    mut round: Box<Round>,
    handler: &LowLevel<T>,
) -> Result<Played<T>, Failure> {
    let thread = Thread::take_up(&round).await?;
    let responses = round.responses.take().unwrap_or_default();
    let (answers, state) = match thread.kept(&round)? {
        None => (all(&responses), None),
        Some(kept) => match kept.carried {
            Carried::Author { asked, state } => {
                // MRTR-S14: answers nobody asked for are ignored.
                let asked = |key: &str| asked.iter().any(|asked| asked == key);
                let answers = only(&responses, asked)
                    .map(|answer| answer.map(|(key, answer)| (key, answer.clone())));
                let answers = answers.collect::<Result<_, _>>()?;
                (answers, Some(Arc::from(&*state)))
            }
            Carried::Journal(_) => return Err(refused(&round.core, OpenError::Unreadable)),
        },
    };
    let call = Call::new(
        round.request.clone(),
        Arc::clone(&round.input),
        state,
        thread.round,
    );
    match guarded(|| handler(call, Answers::new(answers))).await? {
        Outcome::InputRequired(required) => ask(&round, &thread, required).await,
        Outcome::Complete(result) => Ok(Outcome::Complete(result)),
        Outcome::Extension(none) => match none {},
    }
}

async fn ask<T>(
    round: &Round,
    thread: &Thread,
    required: InputRequired,
) -> Result<Played<T>, Failure> {
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
    if thread.round >= round.core.max_rounds {
        return Err(Failure::Rounds);
    }
    let Some(state) = required.state().cloned() else {
        return asking(round, required);
    };
    let asked = required.requests().iter();
    let kept = Kept {
        build: round.core.build,
        sheds: 0,
        trace: thread.trace(round),
        carried: Carried::Author {
            asked: asked.map(|(key, _)| key.into()).collect(),
            state: state.as_str().into(),
        },
    };
    let sealed = thread.seal(round, &kept, &Vec::new)?.await?;
    asking(round, required.with_state(sealed))
}

/// The answers that were asked for.
///
/// An answer is an object whatever it answers; anything else is malformed
/// (MRTR-S13).
pub(super) fn only(
    responses: &InputResponses,
    asked: impl Fn(&str) -> bool,
) -> impl Iterator<Item = Result<(&str, &RawJson), Failure>> {
    let answers = responses.iter().filter(move |(key, _)| asked(key));
    answers.map(|(key, answer)| match answer.is_object() {
        true => Ok((key, answer)),
        false => Err(Failure::Params("inputResponses")),
    })
}

fn all(responses: &InputResponses) -> JsonObject {
    let answers = responses.iter();
    answers.map(|(key, answer)| (key, answer.clone())).collect()
}

/// Runs a handler; a panic fails its call and nothing else.
pub(super) async fn guarded<T>(start: impl FnOnce() -> Boxed<T>) -> Result<T, Failure> {
    let started = catch_unwind(AssertUnwindSafe(start));
    let mut running: Pin<Box<_>> = started.map_err(|_| Failure::Internal)?;
    std::future::poll_fn(move |cx| {
        match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx))) {
            Ok(polled) => polled,
            // The panic hook has said what and where.
            Err(_) => Poll::Ready(Err(Failure::Internal)),
        }
    })
    .await
}
