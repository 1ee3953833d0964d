//! The tasks that SEP-2322 describes, for clients that speak those: as those of
//! 2025-11-25, with requests that stand alone. What a task asks is a result, and
//! its answers are a request.

mod answer;
mod result;

use sterna_protocol::legacy::{TaskRequestParams, TaskResult};
use sterna_protocol::meta::{RelatedTaskMetadata, ResultMeta};
use sterna_store::TaskId;

pub(super) use answer::input_response;
pub(super) use result::result;

use super::extension::{find, unknown};
use super::older;
use crate::call::Request;
use crate::handler::RequestError;

/// `tasks/get`: how a task stands, and no word of what it asks.
pub(super) async fn get(
    request: Request,
    params: TaskRequestParams,
) -> Result<TaskResult, RequestError> {
    let (tasks, id) = find(&request, &params.task_id)?;
    let found = tasks.find(request.caller(), id).await?;
    let task = found.ok_or_else(unknown)?;
    Ok(TaskResult::new(older::task(tasks, &task)))
}

/// `tasks/cancel`.
pub(super) async fn cancel(
    request: Request,
    params: TaskRequestParams,
) -> Result<TaskResult, RequestError> {
    let (tasks, id) = find(&request, &params.task_id)?;
    let found = tasks.find(request.caller(), id).await?;
    let task = found.ok_or_else(unknown)?;
    let cancelled = older::cancel(tasks, request.caller(), &task).await?;
    cancelled.map(TaskResult::new).ok_or_else(older::ended)
}

/// What a result says about itself that belongs to a task.
fn related(request: &Request, task: TaskId) -> ResultMeta {
    let mut meta = request.result_meta();
    meta.related_task = Some(RelatedTaskMetadata::new(task.to_string()));
    meta
}
