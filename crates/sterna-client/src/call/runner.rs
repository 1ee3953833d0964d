//! The loop: send, answer, send again, until the server is done.

use std::any::Any;
use std::sync::Arc;

use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::result::Outcome;

use super::budget::Budget;
use super::options::{CallOptions, SessionQuestions};
use super::round::Unfinished;
use super::state::CallState;
use super::{CallTarget, CancelHandle, PausedCall, Reply, Step};
use crate::cache::Key;
use crate::config::Backoff;
use crate::core::Core;
use crate::error::{Error, Fault};
use crate::tasks;

/// A call on its way.
pub(super) struct CallRunner<T> {
    pub(super) core: Arc<Core>,
    pub(super) call: CallState<T>,
    pub(super) options: CallOptions,
    pub(super) handle: CancelHandle,
}

impl<T: Reply> CallRunner<T> {
    /// Sends the call once and says how far it came.
    pub(super) async fn start(mut self) -> Result<Step<T>, Error> {
        let handle = self.handle.clone();
        let mut budget = self.options.limits(&self.core.config).budget();
        let at_questions = self.options.session_questions;
        let reached = unless_cancelled(&handle, self.send(&mut budget, at_questions)).await?;
        Ok(step(&self.core, self.call, reached))
    }

    /// Makes the call and has everything answered that comes up.
    pub(super) async fn finish(mut self) -> Result<T, Error> {
        let handle = self.handle.clone();
        unless_cancelled(&handle, self.complete()).await
    }

    async fn complete(&mut self) -> Result<T, Error> {
        if let Some(fresh) = kept(&self.core, &self.call) {
            return Ok(fresh);
        }
        let mut budget = self.options.limits(&self.core.config).budget();
        let mut backoff = Backoff::new(&self.core.config);
        loop {
            let required = match self.send(&mut budget, SessionQuestions::Handle).await? {
                Outcome::Complete(result) => {
                    keep(&self.core, &self.call, &result);
                    return Ok(result);
                }
                Outcome::Extension(Unfinished::Asked(..)) => return Err(Fault::Closed.into()),
                Outcome::Extension(Unfinished::Task(task)) => {
                    let declared = &self.call.capabilities;
                    let ended = tasks::follow(&self.core, &task, declared).await?;
                    let result = T::of_task(ended)?;
                    self.call.approve(&self.core, &result)?;
                    return Ok(result);
                }
                Outcome::InputRequired(required) => required,
            };
            // Checked before the handlers run: their answers could not be sent.
            self.options
                .limits(&self.core.config)
                .admit(self.call.rounds)?;
            let (requests, state) = required.into_parts();
            let answers = if requests.is_empty() {
                let pause = tokio::time::sleep(backoff.next());
                let paused = async {
                    pause.await;
                    Ok(())
                };
                budget.spend(paused).await?;
                None
            } else {
                backoff.reset();
                let answers = self.core.answer(self.call.target.name(), requests).await?;
                Some(answers.into_iter().collect())
            };
            self.call.prepare_retry(answers, state);
        }
    }

    async fn send(
        &mut self,
        budget: &mut Budget,
        at_questions: SessionQuestions,
    ) -> Result<Outcome<T, Unfinished>, Error> {
        let (timeouts, listeners) = (budget.timeouts(), &self.options.listeners);
        let sent = self
            .call
            .send(&self.core, listeners, timeouts, at_questions);
        let sent = budget.send(&self.core, sent).await?;
        if let Outcome::InputRequired(required) = &sent {
            self.call.check(required)?;
        }
        Ok(sent)
    }
}

/// The outcome of one round, for the caller.
pub(super) fn step<T: Reply>(
    core: &Core,
    call: CallState<T>,
    reached: Outcome<T, Unfinished>,
) -> Step<T> {
    let server = core.endpoint().to_owned();
    match reached {
        Outcome::Complete(result) => Step::Complete(result),
        Outcome::Extension(Unfinished::Asked(questions, pause)) => {
            Step::InputRequired(PausedCall::in_session(server, call, questions, pause))
        }
        Outcome::Extension(Unfinished::Task(task)) => Step::Task(task),
        Outcome::InputRequired(required) => {
            Step::InputRequired(PausedCall::new(server, call, required))
        }
    }
}

pub(super) async fn unless_cancelled<T>(
    handle: &CancelHandle,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::select! {
        biased;
        () = handle.cancelled() => Err(Fault::Cancelled.into()),
        done = work => done,
    }
}

/// Cached result of an earlier read, if it is still fresh.
fn kept<T: Reply>(core: &Core, call: &CallState<T>) -> Option<T> {
    let read: ReadResourceResult = core.cache.get(&key(call)?)?;
    let read: Box<dyn Any> = Box::new(read);
    read.downcast().ok().map(|read| *read)
}

fn keep<T: Reply>(core: &Core, call: &CallState<T>, result: &T) {
    let result: &dyn Any = result;
    if let (Some(key), Some(read)) = (key(call), result.downcast_ref::<ReadResourceResult>()) {
        core.cache.put(key, read);
    }
}

/// CACHE-C2: a result that took answers or state is not reused, not even by a
/// later call.
fn key<T>(call: &CallState<T>) -> Option<Key> {
    let fresh = call.rounds == 0 && call.meta.is_empty();
    match &*call.target {
        CallTarget::Resource { uri } if fresh => Some(Key::Read(uri.clone())),
        _ => None,
    }
}
