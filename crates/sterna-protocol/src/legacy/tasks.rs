use serde::Serialize;
use serde::de::DeserializeOwned;

use super::RequestMeta;
use crate::json::JsonObject;
use crate::meta::{NotificationMeta, ResultMeta};
use crate::tasks::TaskStatus;

/// Asks that a request be run as a task.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// For how many milliseconds after its creation the task should be kept.
    pub ttl: Option<u64>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(TaskMetadata {
    optional: ttl = "ttl";
    rest: extra
});

/// What is known about a task of 2025-11-25.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// The name of the task; the receiver of the request chose it.
    pub task_id: String,
    /// How it stands.
    pub status: TaskStatus,
    /// When it was created, an ISO 8601 time.
    pub created_at: String,
    /// When it last changed, an ISO 8601 time.
    pub last_updated_at: String,
    /// For how many milliseconds after its creation it is kept; `None` for
    /// ever.
    pub ttl: Option<u64>,
    /// How many milliseconds to wait before asking again.
    pub poll_interval: Option<u64>,
    /// How it stands, in words.
    pub status_message: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Task {
    /// A task that was just created and is kept for ever.
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

/// The result of a request that was asked to run as a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task as it begins.
    pub task: Task,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CreateTaskResult {
    /// Goes on as `task`.
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

/// The parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskRequestParams {
    /// The task.
    pub task_id: String,
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TaskRequestParams {
    /// Is about the task `task_id`.
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

/// The result of `tasks/get` and `tasks/cancel`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskResult {
    /// The task as it stands.
    pub task: Task,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
}

impl TaskResult {
    /// Shows `task`.
    pub fn new(task: Task) -> Self {
        Self { task, meta: None }
    }
}

members!(TaskResult {
    optional: meta = "_meta";
    base: task
});

/// The result of `tasks/result`: that of the request the task stands for.
///
/// Only who made that request knows its type.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetTaskPayloadResult {
    /// What the result says about itself, above all whose it is.
    pub meta: Option<ResultMeta>,
    /// Every other member.
    pub members: JsonObject,
}

impl GetTaskPayloadResult {
    /// Takes the result of a request over.
    ///
    /// # Errors
    ///
    /// It is not an object.
    pub fn of<T: Serialize>(result: &T) -> serde_json::Result<Self> {
        serde_json::from_str(&serde_json::to_string(result)?)
    }

    /// Reads it as what the request promises, such as
    /// [`CallToolResult`](crate::tool::CallToolResult).
    ///
    /// # Errors
    ///
    /// It is not a `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&serde_json::to_string(self)?)
    }
}

members!(GetTaskPayloadResult {
    optional: meta = "_meta";
    rest: members
});

/// The result of `tasks/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListTasksResult {
    /// One page of tasks.
    pub tasks: Vec<Task>,
    /// Where the next page begins; `None` after the last one.
    pub next_cursor: Option<String>,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListTasksResult {
    /// A page without a successor.
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

/// The parameters of `notifications/tasks/status`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskStatusNotificationParams {
    /// The task as it stands.
    pub task: Task,
    /// What the notification says about itself.
    pub meta: Option<NotificationMeta>,
}

impl TaskStatusNotificationParams {
    /// Shows `task`.
    pub fn new(task: Task) -> Self {
        Self { task, meta: None }
    }
}

members!(TaskStatusNotificationParams {
    optional: meta = "_meta";
    base: task
});
