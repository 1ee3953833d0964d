//! Following a task to its end.

use std::collections::BTreeSet;
use std::time::Duration;

use http::HeaderMap;
use serde::Serialize;
use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::input::{InputRequests, InputResponses};
use sterna_protocol::jsonrpc::{Answer, Nothing, Request};
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::methods::Request as _;
use sterna_protocol::result::{Complete, EmptyResult, Outcome};
use sterna_protocol::tasks::{
    self, CancelTask, DetailedTask, GetTask, GetTaskResult, TaskRequestParams, TaskState,
    UpdateTask, UpdateTaskRequestParams,
};
use sterna_protocol::tool::CallToolResult;

use super::TaskHandle;
use crate::call;
use crate::core::Core;
use crate::error::{Error, Fault, printable};
use crate::wire::Deaf;

/// Polls until the task is over and answers what it asks.
pub(crate) async fn follow(
    core: &Core,
    handle: &TaskHandle,
    declared: &ClientCapabilities,
) -> Result<CallToolResult, Error> {
    let mut answered = BTreeSet::new();
    loop {
        let (task, state) = get(core, handle.task_id()).await?.into_parts();
        match state {
            TaskState::Cancelled => return Err(Fault::TaskCancelled.into()),
            TaskState::Completed(result) => return complete(result.as_str()),
            TaskState::Failed(error) => {
                let status = None;
                return Err(Fault::Refused { error, status }.into());
            }
            TaskState::InputRequired(open) => {
                // TASK-C8: a question that is still shown is not a new one; one
                // that was gone and is back is.
                answered.retain(|key: &String| open.get(key).is_some());
                let fresh: InputRequests = open
                    .into_iter()
                    .filter(|(key, _)| !answered.contains(key))
                    .collect();
                if !fresh.is_empty() {
                    check(&fresh, declared)?;
                    let found = call::answer(core, handle.task_id(), fresh).await?;
                    answered.extend(found.iter().map(|(key, _)| key.clone()));
                    // TASK-C9: nothing but what was open.
                    let answers = found.into_iter().collect();
                    update(core, handle.task_id(), answers).await?;
                    continue;
                }
            }
            _ => answered.clear(),
        }
        // TASK-C3: at the server's pace, whichever it is by now.
        let pace = task.poll_interval_ms.map_or(USUAL, Duration::from_millis);
        tokio::time::sleep(pace.clamp(FASTEST, SLOWEST)).await;
    }
}

pub(super) async fn get(core: &Core, task_id: &str) -> Result<DetailedTask, Error> {
    let params = TaskRequestParams::new(meta(core), task_id);
    let asked = ask(core, GetTask::METHOD, task_id, params);
    let Complete(GetTaskResult { task, .. }) = asked.await?;
    if task.task().task_id != task_id {
        return Err(Fault::Broken("another task").into());
    }
    Ok(task)
}

pub(super) async fn update(
    core: &Core,
    task_id: &str,
    answers: InputResponses,
) -> Result<(), Error> {
    let params = UpdateTaskRequestParams::new(meta(core), task_id, answers);
    let asked = ask(core, UpdateTask::METHOD, task_id, params);
    let Complete(EmptyResult { .. }) = asked.await?;
    Ok(())
}

/// TASK-C10: a task outlives its request, so this is a request of its own.
pub(super) async fn cancel(core: &Core, task_id: &str) -> Result<(), Error> {
    let params = TaskRequestParams::new(meta(core), task_id);
    let asked = ask(core, CancelTask::METHOD, task_id, params);
    let Complete(EmptyResult { .. }) = asked.await?;
    Ok(())
}

/// TASK-C11: `Mcp-Name` is the task.
async fn ask<A: for<'de> Answer<'de>>(
    core: &Core,
    method: &'static str,
    task_id: &str,
    params: impl Serialize,
) -> Result<A, Error> {
    let request = Request::new(core.wire.next_id().into(), method, params);
    let headers = HeaderMap::new();
    core.modern(request, Some(task_id), headers, &Deaf, core.patience())
        .await
}

fn meta(core: &Core) -> RequestMeta {
    let mut meta = core.plain_meta();
    if !meta.client_capabilities.has_extension(tasks::EXTENSION) {
        meta.client_capabilities = meta.client_capabilities.with_extension(&ExtensionId::TASKS);
    }
    meta
}

/// TASK-C7: a task may ask no more than a round may.
fn check(asked: &InputRequests, declared: &ClientCapabilities) -> Result<(), Error> {
    let undeclared = asked
        .iter()
        .find(|(_, request)| declared.missing(&request.required_capabilities()).is_some());
    match undeclared {
        Some((key, request)) => Err(Fault::NoHandler {
            key: printable(key),
            method: request.method(),
        }
        .into()),
        None => Ok(()),
    }
}

fn complete(result: &str) -> Result<CallToolResult, Error> {
    match Outcome::<CallToolResult, Nothing>::decode(result) {
        Ok(Outcome::Complete(result)) => Ok(result),
        _ => Err(Fault::Broken("a task that is done without a result").into()),
    }
}

const USUAL: Duration = Duration::from_secs(1);
const FASTEST: Duration = Duration::from_millis(50);
const SLOWEST: Duration = Duration::from_secs(60);
