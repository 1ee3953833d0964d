use serde::de::{Deserialize, Deserializer};

use super::{DetailedTask, Task};
use crate::input::InputResponses;
use crate::jsonrpc::Dispatch;
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};

wire! {
    /// Parameters of `tasks/get` and `tasks/cancel`.
    pub struct TaskRequestParams {
        required {
            /// Request metadata (`_meta`): protocol version, client info,
            /// capabilities.
            meta: RequestMeta = "_meta",
            /// Id of the task.
            task_id: String = "taskId",
        }
    }

    /// Names the task `task_id`.
    new(meta: RequestMeta, task_id: impl Into<String>);
}

wire! {
    /// Parameters of `tasks/update`.
    pub struct UpdateTaskRequestParams {
        required {
            /// Request metadata (`_meta`): protocol version, client info,
            /// capabilities.
            meta: RequestMeta = "_meta",
            /// Id of the task.
            task_id: String = "taskId",
            /// Answers to some or all questions of the task.
            input_responses: InputResponses = "inputResponses",
        }
    }

    /// Answers the task `task_id`.
    new(meta: RequestMeta, task_id: impl Into<String>, input_responses: InputResponses);
}

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
