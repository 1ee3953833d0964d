//! The loop: send, answer, send again, until the server is done.

use std::any::Any;
use std::sync::Arc;

use futures::future::try_join_all;
use sterna_protocol::input::{InputRequest, InputRequests, InputResponse};
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::result::Outcome;

use super::budget::{Budget, Pacing};
use super::flow::Flow;
use super::terms::Terms;
use super::{CancelHandle, PausedCall, Reply, Step, Subject};
use crate::answers::Question;
use crate::cache::Key;
use crate::core::Core;
use crate::error::{Error, Fault};
use crate::tasks::{self, TaskHandle};

/// A call on its way.
pub(super) struct Run<T> {
    pub(super) core: Arc<Core>,
    pub(super) flow: Flow<T>,
    pub(super) terms: Terms,
}

impl<T: Reply> Run<T> {
    /// Sends the call once and says how far it came.
    pub(super) async fn start(mut self) -> Result<Step<T>, Error> {
        let handle = self.terms.handle.clone();
        let mut budget = self.terms.limits.budget();
        let reached = unless_cancelled(&handle, self.send(&mut budget)).await?;
        let server = self.core.place();
        Ok(match reached {
            Outcome::Complete(result) => Step::Complete(result),
            Outcome::Extension(task) => Step::Task(task),
            Outcome::InputRequired(required) => {
                Step::InputRequired(PausedCall::new(server.to_owned(), self.flow, required))
            }
        })
    }

    /// Makes the call and has everything answered that comes up.
    pub(super) async fn finish(mut self) -> Result<T, Error> {
        let handle = self.terms.handle.clone();
        unless_cancelled(&handle, self.complete()).await
    }

    async fn complete(&mut self) -> Result<T, Error> {
        if let Some(fresh) = kept(&self.core, &self.flow) {
            return Ok(fresh);
        }
        let mut budget = self.terms.limits.budget();
        let mut pacing = Pacing::new(&self.core.config);
        loop {
            let required = match self.send(&mut budget).await? {
                Outcome::Complete(result) => {
                    keep(&self.core, &self.flow, &result);
                    return Ok(result);
                }
                Outcome::Extension(task) => {
                    let declared = &self.flow.capabilities;
                    let ended = tasks::follow(&self.core, &task, declared).await?;
                    let result = T::of_task(ended)?;
                    self.flow.approve(&self.core, &result)?;
                    return Ok(result);
                }
                Outcome::InputRequired(required) => required,
            };
            // Nobody is asked for an answer that could not be sent any more.
            self.terms.limits.admit(self.flow.rounds)?;
            let (requests, state) = required.into_parts();
            let answers = if requests.is_empty() {
                let pause = tokio::time::sleep(pacing.next());
                let paused = async {
                    pause.await;
                    Ok(())
                };
                budget.spend(paused).await?;
                None
            } else {
                pacing.reset();
                let answers = answer(&self.core, self.flow.subject.name(), requests).await?;
                Some(answers.into_iter().collect())
            };
            self.flow.again(answers, state);
        }
    }

    async fn send(&mut self, budget: &mut Budget) -> Result<Outcome<T, TaskHandle>, Error> {
        let patience = budget.patience();
        let sent = self.flow.send(&self.core, &self.terms.listeners, patience);
        let sent = budget.send(&self.core, sent).await?;
        if let Outcome::InputRequired(required) = &sent {
            self.flow.check(required)?;
        }
        Ok(sent)
    }
}

async fn unless_cancelled<T>(
    handle: &CancelHandle,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::select! {
        biased;
        () = handle.cancelled() => Err(Fault::Cancelled.into()),
        done = work => done,
    }
}

/// Has all questions of a round answered at once; the first failure drops the
/// others.
pub(crate) async fn answer(
    core: &Core,
    about: &str,
    requests: InputRequests,
) -> Result<Vec<(String, InputResponse)>, Error> {
    let server: Arc<str> = core.place().into();
    let about: Arc<str> = about.into();
    let ask = |(key, request): (String, InputRequest)| {
        let question = Question::new(server.clone(), about.clone(), key.clone(), request);
        async move {
            let response = core.answers.answer(question).await?;
            Ok::<_, Error>((key, response))
        }
    };
    try_join_all(requests.into_iter().map(ask)).await
}

/// What an earlier read brought, if it is still fresh.
fn kept<T: Reply>(core: &Core, flow: &Flow<T>) -> Option<T> {
    let read: ReadResourceResult = core.cache.get(&key(flow)?)?;
    let read: Box<dyn Any> = Box::new(read);
    read.downcast().ok().map(|read| *read)
}

fn keep<T: Reply>(core: &Core, flow: &Flow<T>, result: &T) {
    let result: &dyn Any = result;
    if let (Some(key), Some(read)) = (key(flow), result.downcast_ref::<ReadResourceResult>()) {
        core.cache.put(key, read);
    }
}

/// CACHE-C2: what took answers or state to get is nobody else's, not even a
/// later call's.
fn key<T>(flow: &Flow<T>) -> Option<Key> {
    let fresh = flow.rounds == 0 && flow.meta.is_empty();
    match &*flow.subject {
        Subject::Resource { uri } if fresh => Some(Key::Read(uri.clone())),
        _ => None,
    }
}
