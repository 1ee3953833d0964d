use serde::Serialize;
use serde::de::DeserializeOwned;

use super::RequestMeta;
use crate::json::JsonObject;
use crate::meta::{NotificationMeta, ResultMeta};
use crate::tasks::TaskStatus;

wire! {
    /// Request to run a call as a task.
    #[derive(Default)]
    pub struct TaskMetadata {
        optional {
            /// Milliseconds after creation for which the receiver should keep
            /// the task.
            ttl: Option<u64> = "ttl",
        }
    }
}

wire! {
    /// Task of 2025-11-25.
    pub struct Task {
        required {
            /// Id of the task, chosen by the receiver of the request.
            task_id: String = "taskId",
            /// Status of the task.
            status: TaskStatus = "status",
            /// Time of creation, in ISO 8601.
            created_at: String = "createdAt",
            /// Time of the last change, in ISO 8601.
            last_updated_at: String = "lastUpdatedAt",
            /// Milliseconds after creation for which the task is kept; `None`
            /// for no limit.
            ttl: Option<u64> = "ttl",
        }
        optional {
            /// Milliseconds to wait between two requests for the status.
            poll_interval: Option<u64> = "pollInterval",
            /// Details of the status, for people.
            status_message: Option<String> = "statusMessage",
        }
    }
}

impl Task {
    /// Creates a working task without a time limit.
    pub fn new(task_id: impl Into<String>, created_at: impl Into<String>) -> Self {
        let created_at = created_at.into();
        Self {
            task_id: task_id.into(),
            status: TaskStatus::Working,
            last_updated_at: created_at.clone(),
            created_at,
            ttl: None,
            poll_interval: None,
            status_message: None,
            extra: JsonObject::new(),
        }
    }
}

wire! {
    /// Result of a request that runs as a task.
    pub struct CreateTaskResult {
        required {
            /// The task after its creation.
            task: Task = "task",
        }
        optional {
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates a result that names `task`.
    new(task: Task);
}

wire! {
    /// Parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
    pub struct TaskRequestParams {
        required {
            /// Id of the task.
            task_id: String = "taskId",
        }
        optional {
            /// Request metadata (`_meta`).
            meta: Option<RequestMeta> = "_meta",
        }
    }

    /// Names the task `task_id`.
    new(task_id: impl Into<String>);
}

/// Result of `tasks/get` and `tasks/cancel`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskResult {
    /// Current state of the task.
    pub task: Task,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
}

impl TaskResult {
    /// Shows the current state of `task`.
    pub fn new(task: Task) -> Self {
        Self { task, meta: None }
    }
}

members!(TaskResult {
    optional: meta = "_meta";
    base: task
});

/// Result of `tasks/result`: the result of the request that runs as the task.
///
/// Its type depends on that request.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetTaskPayloadResult {
    /// Result metadata (`_meta`), with the id of the task.
    pub meta: Option<ResultMeta>,
    /// All other members.
    pub members: JsonObject,
}

impl GetTaskPayloadResult {
    /// Takes over the result of a request.
    ///
    /// # Errors
    ///
    /// The result is not an object.
    pub fn of<T: Serialize>(result: &T) -> serde_json::Result<Self> {
        serde_json::from_str(&serde_json::to_string(result)?)
    }

    /// Decodes the result as the type of the request, such as
    /// [`CallToolResult`](crate::tool::CallToolResult).
    ///
    /// # Errors
    ///
    /// The result is not a `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&serde_json::to_string(self)?)
    }
}

members!(GetTaskPayloadResult {
    optional: meta = "_meta";
    rest: members
});

wire! {
    /// Result of `tasks/list`.
    pub struct ListTasksResult {
        required {
            /// Tasks of this page.
            tasks: Vec<Task> = "tasks",
        }
        optional {
            /// Cursor of the next page; `None` on the last one.
            next_cursor: Option<String> = "nextCursor",
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates the last page.
    new(tasks: Vec<Task>);
}

/// Parameters of `notifications/tasks/status`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskStatusNotificationParams {
    /// Current state of the task.
    pub task: Task,
    /// Notification metadata (`_meta`).
    pub meta: Option<NotificationMeta>,
}

impl TaskStatusNotificationParams {
    /// Shows the current state of `task`.
    pub fn new(task: Task) -> Self {
        Self { task, meta: None }
    }
}

members!(TaskStatusNotificationParams {
    optional: meta = "_meta";
    base: task
});
