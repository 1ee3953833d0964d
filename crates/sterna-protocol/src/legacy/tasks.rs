use serde::Serialize;
use serde::de::DeserializeOwned;

use super::RequestMeta;
use crate::json::JsonObject;
use crate::meta::{NotificationMeta, ResultMeta};
use crate::tasks::TaskStatus;

/// Request to run a call as a task.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// Milliseconds after creation for which the receiver should keep the task.
    pub ttl: Option<u64>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(TaskMetadata {
    optional: ttl = "ttl";
    rest: extra
});

/// Task of 2025-11-25.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// Id of the task, chosen by the receiver of the request.
    pub task_id: String,
    /// Status of the task.
    pub status: TaskStatus,
    /// Time of creation, in ISO 8601.
    pub created_at: String,
    /// Time of the last change, in ISO 8601.
    pub last_updated_at: String,
    /// Milliseconds after creation for which the task is kept; `None` for no
    /// limit.
    pub ttl: Option<u64>,
    /// Milliseconds to wait between two requests for the status.
    pub poll_interval: Option<u64>,
    /// Details of the status, for people.
    pub status_message: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
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

members!(Task {
    required: task_id = "taskId", status = "status", created_at = "createdAt",
        last_updated_at = "lastUpdatedAt", ttl = "ttl";
    optional: poll_interval = "pollInterval", status_message = "statusMessage";
    rest: extra
});

/// Result of a request that runs as a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task after its creation.
    pub task: Task,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CreateTaskResult {
    /// Creates a result that names `task`.
    pub fn new(task: Task) -> Self {
        Self {
            task,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(CreateTaskResult {
    required: task = "task";
    optional: meta = "_meta";
    rest: extra
});

/// Parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskRequestParams {
    /// Id of the task.
    pub task_id: String,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TaskRequestParams {
    /// Names the task `task_id`.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(TaskRequestParams {
    required: task_id = "taskId";
    optional: meta = "_meta";
    rest: extra
});

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

/// Result of `tasks/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListTasksResult {
    /// Tasks of this page.
    pub tasks: Vec<Task>,
    /// Cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListTasksResult {
    /// Creates the last page.
    pub fn new(tasks: Vec<Task>) -> Self {
        Self {
            tasks,
            next_cursor: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ListTasksResult {
    required: tasks = "tasks";
    optional: next_cursor = "nextCursor", meta = "_meta";
    rest: extra
});

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
