//! The requests of the extension.

use http::HeaderMap;
use serde::Serialize;
use sterna_protocol::input::InputResponses;
use sterna_protocol::jsonrpc::{Answer, Request};
use sterna_protocol::methods::RequestMethod as _;
use sterna_protocol::result::{Complete, EmptyResult};
use sterna_protocol::tasks::{
    CancelTask, DetailedTask, GetTask, GetTaskResult, TaskRequestParams, UpdateTask,
    UpdateTaskRequestParams,
};

use crate::core::Core;
use crate::error::{Error, Fault};
use crate::wire::IgnoreAll;

pub(super) async fn get(core: &Core, task_id: &str) -> Result<DetailedTask, Error> {
    let params = TaskRequestParams::new(core.task_meta(), task_id);
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
    let params = UpdateTaskRequestParams::new(core.task_meta(), task_id, answers);
    let asked = ask(core, UpdateTask::METHOD, task_id, params);
    let Complete(EmptyResult { .. }) = asked.await?;
    Ok(())
}

/// TASK-C10: a task outlives its request, so this is a request of its own.
pub(super) async fn cancel(core: &Core, task_id: &str) -> Result<(), Error> {
    let params = TaskRequestParams::new(core.task_meta(), task_id);
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
    core.modern(request, Some(task_id), headers, &IgnoreAll, core.timeouts())
        .await
}
