//! A round of a handler that returns its questions itself.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use sterna_protocol::input::{InputRequired, InputResponses};
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::result::Outcome;
use sterna_seal::OpenError;

use super::token::{Carried, Kept, Thread, refused};
use super::{Played, Round, asking, gate};
use crate::call::{Answers, Call};
use crate::failure::Failure;
use crate::handler::{Boxed, LowLevel};
use crate::wording;

pub(super) async fn play<T: Send + 'static>(
    mut round: Box<Round>,
    handler: &LowLevel<T>,
) -> Result<Played<T>, Failure> {
    let thread = Thread::take_up(&mut round).await?;
    let responses = round.responses.take().unwrap_or_default();
    let (answers, state) = read(&round, &thread, &responses)?;
    let call = Call::new(
        round.request.clone(),
        Arc::clone(&round.input),
        round.target.written(),
        state,
        thread.round,
    );
    match guarded(&round, || handler(call, Answers::new(answers))).await? {
        Outcome::InputRequired(required) => ask(&round, &thread, required).await,
        Outcome::Complete(result) => Ok(Outcome::Complete(result)),
        Outcome::Extension(none) => match none {},
    }
}

/// Whether the round can be played: its state is one of a low-level handler,
/// and its answers are well-formed.
pub(super) fn check(round: &Round, thread: &Thread) -> Result<(), Failure> {
    match &round.responses {
        None => read(round, thread, &InputResponses::default()).map(drop),
        Some(responses) => read(round, thread, responses).map(drop),
    }
}

/// The answers of the client and the state of the author.
fn read(
    round: &Round,
    thread: &Thread,
    responses: &InputResponses,
) -> Result<(JsonObject, Option<Arc<str>>), Failure> {
    let Some(kept) = thread.kept(round)? else {
        return Ok((all(responses), None));
    };
    match kept.carried {
        Carried::Author { asked, state } => {
            // MRTR-S14: answers to questions that were not asked are ignored.
            let asked = |key: &str| asked.iter().any(|asked| asked == key);
            let answers = only(responses, asked)
                .map(|answer| answer.map(|(key, answer)| (key, answer.clone())));
            Ok((answers.collect::<Result<_, _>>()?, Some(Arc::from(&*state))))
        }
        Carried::Journal(_) => Err(refused(&round.core, OpenError::Unreadable)),
    }
}

async fn ask<T>(
    round: &Round,
    thread: &Thread,
    required: InputRequired,
) -> Result<Played<T>, Failure> {
    let questions = required.requests().iter().map(|(_, question)| question);
    gate::check_all(&round.core, round.request.capabilities(), questions)?;
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
        false => Err(Failure::params(format!(
            "{} in `inputResponses` must be an object",
            wording::name(key)
        ))),
    })
}

fn all(responses: &InputResponses) -> JsonObject {
    let answers = responses.iter();
    answers.map(|(key, answer)| (key, answer.clone())).collect()
}

/// Runs a handler; a panic fails its call and nothing else.
pub(super) async fn guarded<T>(
    round: &Round,
    start: impl FnOnce() -> Boxed<T>,
) -> Result<T, Failure> {
    let started = catch_unwind(AssertUnwindSafe(start));
    let mut running: Pin<Box<_>> = started.map_err(|said| panicked(round, &*said))?;
    std::future::poll_fn(move |cx| {
        match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx))) {
            Ok(polled) => polled,
            Err(said) => Poll::Ready(Err(panicked(round, &*said))),
        }
    })
    .await
}

/// The failure of a handler that panicked.
fn panicked(round: &Round, said: &(dyn Any + Send)) -> Failure {
    let text = said.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| said.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("without a text");
    tracing::error!(target: "sterna::rounds", name = round.shown(), "MR0100: the handler panicked: {text}");
    round
        .core
        .mistaken(format_args!("MR0100: the handler panicked: {text}"))
}
