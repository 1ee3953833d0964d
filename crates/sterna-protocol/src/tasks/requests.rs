use serde::de::{Deserialize, Deserializer};

use super::{DetailedTask, Task};
use crate::input::InputResponses;
use crate::json::JsonObject;
use crate::jsonrpc::Dispatch;
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};

/// The parameters of `tasks/get` and `tasks/cancel`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskRequestParams {
    /// What makes the request stand alone.
    pub meta: RequestMeta,
    /// The task.
    pub task_id: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TaskRequestParams {
    /// Is about the task `task_id`.
    pub fn new(meta: RequestMeta, task_id: impl Into<String>) -> Self {
        Self {
            meta,
            task_id: task_id.into(),
            extra: JsonObject::new(),
        }
    }
}

members!(TaskRequestParams {
    required: meta = "_meta", task_id = "taskId";
    rest: extra
});

/// The parameters of `tasks/update`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UpdateTaskRequestParams {
    /// What makes the request stand alone.
    pub meta: RequestMeta,
    /// The task.
    pub task_id: String,
    /// Answers to some or all of what the task asks.
    pub input_responses: InputResponses,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl UpdateTaskRequestParams {
    /// Answers the task `task_id`.
    pub fn new(
        meta: RequestMeta,
        task_id: impl Into<String>,
        input_responses: InputResponses,
    ) -> Self {
        Self {
            meta,
            task_id: task_id.into(),
            input_responses,
            extra: JsonObject::new(),
        }
    }
}

members!(UpdateTaskRequestParams {
    required: meta = "_meta", task_id = "taskId", input_responses = "inputResponses";
    rest: extra
});

/// The result, in place of another, that says: this goes on as a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task as it begins.
    pub task: Task,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
}

impl CreateTaskResult {
    /// Goes on as `task`.
    pub fn new(task: Task) -> Self {
        Self { task, meta: None }
    }
}

members!(CreateTaskResult {
    tag: "resultType" = "task";
    optional: meta = "_meta";
    base: task
});

/// The family of results that the extension adds.
impl<'de> Dispatch<'de> for CreateTaskResult {
    type Tag = ();

    fn find(name: &str) -> Option<()> {
        (name == "task").then_some(())
    }

    fn decode<D: Deserializer<'de>>((): (), body: D) -> Result<Self, D::Error> {
        Self::deserialize(body)
    }
}

/// The result of `tasks/get`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetTaskResult {
    /// The task as it stands.
    pub task: DetailedTask,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
}

impl GetTaskResult {
    /// Shows `task`.
    pub fn new(task: DetailedTask) -> Self {
        Self { task, meta: None }
    }
}

members!(GetTaskResult {
    optional: meta = "_meta";
    base: task
});

/// The parameters of `notifications/tasks`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskStatusNotificationParams {
    /// The task as it stands, just as `tasks/get` would show it.
    pub task: DetailedTask,
    /// What the notification says about itself.
    pub meta: Option<NotificationMeta>,
}

impl TaskStatusNotificationParams {
    /// Shows `task`.
    pub fn new(task: DetailedTask) -> Self {
        Self { task, meta: None }
    }
}

members!(TaskStatusNotificationParams {
    optional: meta = "_meta";
    base: task
});
