use serde::de::{Deserialize, Deserializer};

use super::{DetailedTask, Task};
use crate::input::InputResponses;
use crate::json::JsonObject;
use crate::jsonrpc::Dispatch;
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};

/// Parameters of `tasks/get` and `tasks/cancel`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskRequestParams {
    /// Request metadata (`_meta`): protocol version, client info, capabilities.
    pub meta: RequestMeta,
    /// Id of the task.
    pub task_id: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl TaskRequestParams {
    /// Names the task `task_id`.
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

/// Parameters of `tasks/update`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UpdateTaskRequestParams {
    /// Request metadata (`_meta`): protocol version, client info, capabilities.
    pub meta: RequestMeta,
    /// Id of the task.
    pub task_id: String,
    /// Answers to some or all questions of the task.
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

/// Result in place of another: the request continues as a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task after its creation.
    pub task: Task,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
}

impl CreateTaskResult {
    /// Continues the request as `task`.
    pub fn new(task: Task) -> Self {
        Self { task, meta: None }
    }
}

members!(CreateTaskResult {
    tag: "resultType" = "task";
    optional: meta = "_meta";
    base: task
});

/// Family of the one result that the extension adds.
impl<'de> Dispatch<'de> for CreateTaskResult {
    type Tag = ();

    fn find(name: &str) -> Option<()> {
        (name == "task").then_some(())
    }

    fn decode<D: Deserializer<'de>>((): (), body: D) -> Result<Self, D::Error> {
        Self::deserialize(body)
    }
}

/// Result of `tasks/get`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetTaskResult {
    /// Current state of the task.
    pub task: DetailedTask,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
}

impl GetTaskResult {
    /// Shows the current state of `task`.
    pub fn new(task: DetailedTask) -> Self {
        Self { task, meta: None }
    }
}

members!(GetTaskResult {
    optional: meta = "_meta";
    base: task
});

/// Parameters of `notifications/tasks`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskStatusNotificationParams {
    /// Current state of the task, as `tasks/get` returns it.
    pub task: DetailedTask,
    /// Notification metadata (`_meta`).
    pub meta: Option<NotificationMeta>,
}

impl TaskStatusNotificationParams {
    /// Shows the current state of `task`.
    pub fn new(task: DetailedTask) -> Self {
        Self { task, meta: None }
    }
}

members!(TaskStatusNotificationParams {
    optional: meta = "_meta";
    base: task
});
