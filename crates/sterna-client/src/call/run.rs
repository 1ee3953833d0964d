//! The loop: send, answer, send again, until the server is done.

use std::any::Any;
use std::sync::Arc;

use futures::future::try_join_all;
use sterna_protocol::input::{InputRequest, InputRequests, InputResponse};
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::result::Outcome;

use super::budget::{Budget, Pacing};
use super::build::{Call, Limits};
use super::flow::Flow;
use super::hearing::Listeners;
use super::{CancelHandle, PausedCall, Reply, Step, Subject};
use crate::answers::Question;
use crate::cache::Key;
use crate::core::Core;
use crate::error::{Error, Fault};
use crate::tasks::{self, TaskHandle};

/// Makes a call and answers what comes up.
pub(super) async fn run<T: Reply>(mut call: Call<T>) -> Result<T, Error> {
    let flow = call.flow()?;
    let Call {
        core,
        listeners,
        limits,
        handle,
        ..
    } = call;
    unless_cancelled(&handle, finish(&core, flow, &listeners, limits)).await
}

/// Makes a call up to the first question.
pub(super) async fn start<T: Reply>(mut call: Call<T>) -> Result<Step<T>, Error> {
    let flow = call.flow()?;
    let Call {
        core,
        listeners,
        limits,
        handle,
        ..
    } = call;
    unless_cancelled(&handle, advance(&core, flow, &listeners, limits)).await
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

/// Sends a call and says how far it came.
pub(super) async fn advance<T: Reply>(
    core: &Arc<Core>,
    mut flow: Flow<T>,
    listeners: &Listeners,
    limits: Limits,
) -> Result<Step<T>, Error> {
    let mut budget = Budget::new(limits.deadline, limits.timeout);
    let patience = budget.patience();
    let sent = flow.send(core, listeners, patience);
    let sent = budget.send(core, sent).await?;
    match sent {
        Outcome::Complete(result) => Ok(Step::Complete(result)),
        Outcome::Extension(created) => Ok(Step::Task(TaskHandle::new(core.place(), &created))),
        Outcome::InputRequired(required) => {
            flow.check(&required)?;
            let server = core.place().to_owned();
            Ok(Step::InputRequired(PausedCall::new(server, flow, required)))
        }
    }
}

/// Sends a call until it is done.
pub(super) async fn finish<T: Reply>(
    core: &Arc<Core>,
    mut flow: Flow<T>,
    listeners: &Listeners,
    limits: Limits,
) -> Result<T, Error> {
    if let Some(fresh) = kept(core, &flow) {
        return Ok(fresh);
    }
    let mut budget = Budget::new(limits.deadline, limits.timeout);
    let mut pacing = Pacing::default();
    loop {
        let patience = budget.patience();
        let sent = flow.send(core, listeners, patience);
        let sent = budget.send(core, sent).await?;
        let required = match sent {
            Outcome::Complete(result) => {
                keep(core, &flow, &result);
                return Ok(result);
            }
            Outcome::Extension(created) => {
                let handle = TaskHandle::new(core.place(), &created);
                return T::of_task(tasks::follow(core, &handle, &flow.capabilities).await?);
            }
            Outcome::InputRequired(required) => required,
        };
        flow.check(&required)?;
        // Nobody is asked for an answer that could not be sent any more.
        if flow.rounds >= limits.rounds {
            let limit = limits.rounds;
            return Err(Fault::Rounds { limit }.into());
        }
        flow.rounds += 1;
        let (requests, state) = required.into_parts();
        flow.responses = if requests.is_empty() {
            let pause = pacing.next();
            budget
                .spend(async {
                    tokio::time::sleep(pause).await;
                    Ok(())
                })
                .await?;
            None
        } else {
            pacing.reset();
            let answers = answer(core, flow.subject.name(), requests).await?;
            Some(answers.into_iter().collect())
        };
        // MRTR-C2, MRTR-C6: the state of this round, or none.
        flow.state = state;
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
