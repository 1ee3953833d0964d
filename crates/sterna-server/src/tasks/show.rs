//! A task of a store as clients see it.

use sterna_protocol::input::{InputRequest, InputRequests};
use sterna_protocol::json::RawObject;
use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};
use sterna_protocol::tasks::{DetailedTask, Task as WireTask, TaskState, TaskStatus};
use sterna_store::{Note, Outcome, Status, Summary, Task};

use super::Tasks;

impl Tasks {
    /// Members that every message about a task has.
    pub(crate) fn head(&self, summary: &Summary) -> WireTask {
        let mut task = WireTask::new(summary.id.to_string(), format!("{:.3}", summary.created_at));
        task.last_updated_at = format!("{:.3}", summary.updated_at);
        task.status = match summary.status {
            Status::Working => TaskStatus::Working,
            Status::InputRequired => TaskStatus::InputRequired,
            Status::Completed => TaskStatus::Completed,
            Status::Failed => TaskStatus::Failed,
            Status::Cancelled => TaskStatus::Cancelled,
        };
        let ttl = summary.expires_at.map(|end| end - summary.created_at);
        task.ttl_ms = ttl.map(millis);
        task.poll_interval_ms = Some(millis(self.config.poll_interval).max(1));
        task.status_message = Some(status_message(summary).to_owned());
        task
    }

    /// The task with what came of it (TASK-S7 to TASK-S11).
    pub(crate) fn detailed(&self, task: &Task) -> DetailedTask {
        let mut head = self.head(&task.summary);
        let state = match task.summary.status {
            Status::Working => TaskState::Working,
            Status::InputRequired => TaskState::InputRequired(questions(task)),
            Status::Cancelled => TaskState::Cancelled,
            Status::Completed => match payload::<RawObject>(task) {
                Some(result) => TaskState::Completed(result),
                None => TaskState::Failed(unreadable()),
            },
            Status::Failed => match payload::<ErrorObject>(task) {
                Some(error) => {
                    // TASK-S23
                    head.status_message = Some(error.message.clone());
                    TaskState::Failed(error)
                }
                // TASK-S24: what a session takes for the task's failure is a result here.
                None => match payload::<RawObject>(task) {
                    Some(result) => TaskState::Completed(result),
                    None => TaskState::Failed(unreadable()),
                },
            },
        };
        DetailedTask::new(head, state)
    }
}

/// Text for the person who waits for a task. While it goes on, its tool may say
/// something better than its status does.
fn status_message(summary: &Summary) -> &str {
    let note = summary.note.as_ref().map(Note::as_str);
    match summary.status {
        Status::Working => note.unwrap_or("The task is being worked on"),
        Status::InputRequired => note.unwrap_or("The task waits for an answer"),
        Status::Completed => "The task has completed",
        Status::Failed => "The task has failed",
        Status::Cancelled => "The task was cancelled",
    }
}

pub(super) fn payload<T: serde::de::DeserializeOwned>(task: &Task) -> Option<T> {
    let bytes = task.outcome.as_ref().and_then(Outcome::payload)?;
    serde_json::from_slice(bytes).ok()
}

/// Open questions of a task (TASK-S8). A stored question that cannot be read as
/// a request is left out.
pub(crate) fn questions(task: &Task) -> InputRequests {
    let mut requests = InputRequests::new();
    for question in &task.questions {
        if let Ok(request) = serde_json::from_slice::<InputRequest>(&question.request) {
            requests.insert(question.key.as_str(), request);
        }
    }
    requests
}

fn unreadable() -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, "Internal error")
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
