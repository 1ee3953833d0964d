//! Tasks in the types of 2025-11-25, which SEP-2322 kept.

use sterna_http::auth::Caller;
use sterna_protocol::content::ContentBlock;
use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};
use sterna_protocol::legacy::Task as WireTask;
use sterna_protocol::meta::RelatedTaskMetadata;
use sterna_protocol::tasks::TaskStatus;
use sterna_protocol::tool::CallToolResult;
use sterna_store::{Error, Status, Summary, Task};

use super::Tasks;
use super::show::payload;
use crate::handler::RequestError;

/// Entry of a task in a list.
pub(crate) fn head(tasks: &Tasks, summary: &Summary) -> WireTask {
    let head = tasks.head(summary);
    let mut task = WireTask::new(head.task_id, head.created_at);
    task.status = head.status;
    task.last_updated_at = head.last_updated_at;
    task.ttl = head.ttl_ms;
    task.poll_interval = head.poll_interval_ms;
    task.status_message = head.status_message;
    task
}

/// A task on its own; one that failed says why.
pub(crate) fn task(tasks: &Tasks, task: &Task) -> WireTask {
    let mut shown = head(tasks, &task.summary);
    let why = match end(task) {
        Some(LegacyTaskResult::Error(error)) if task.summary.status == Status::Failed => {
            Some(error.message)
        }
        Some(LegacyTaskResult::Result(result)) if result.is_error == Some(true) => {
            shown.status = TaskStatus::Failed;
            result.content.into_iter().find_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text),
                _ => None,
            })
        }
        _ => None,
    };
    if why.is_some() {
        shown.status_message = why;
    }
    shown
}

/// Result or error of a task, as its call would have been answered.
pub(crate) enum LegacyTaskResult {
    Error(ErrorObject),
    Result(Box<CallToolResult>),
}

/// Returns the result or error of a task; `None` while it runs.
pub(crate) fn end(task: &Task) -> Option<LegacyTaskResult> {
    let internal =
        |text| LegacyTaskResult::Error(ErrorObject::new(ErrorCode::INTERNAL_ERROR, text));
    Some(match task.summary.status {
        Status::Working | Status::InputRequired => return None,
        Status::Cancelled => internal("The task was cancelled"),
        Status::Completed | Status::Failed => match payload::<CallToolResult>(task) {
            Some(mut result) => {
                let meta = result.meta.get_or_insert_default();
                meta.related_task = Some(RelatedTaskMetadata::new(task.summary.id.to_string()));
                LegacyTaskResult::Result(Box::new(result))
            }
            None => {
                payload(task).map_or_else(|| internal("Internal error"), LegacyTaskResult::Error)
            }
        },
    })
}

/// Cancels a task and shows it; `None` if it has ended in another way.
pub(crate) async fn cancel(
    tasks: &Tasks,
    caller: &Caller,
    found: &Task,
) -> Result<Option<WireTask>, Error> {
    if found.summary.status.is_final() {
        return Ok(None);
    }
    let id = found.summary.id;
    tasks.cancel(caller, id).await?;
    // It may have ended by itself in the meantime.
    let cancelled = tasks.find(caller, id).await?;
    let cancelled = cancelled.filter(|task| task.summary.status == Status::Cancelled);
    Ok(cancelled.map(|cancelled| task(tasks, &cancelled)))
}

/// Error for a task that has ended and cannot be cancelled.
pub(crate) fn ended() -> RequestError {
    RequestError::invalid_params("The task has ended")
}
