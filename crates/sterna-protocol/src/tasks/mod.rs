//! Tasks extension (`io.modelcontextprotocol/tasks`): requests that continue
//! after their response.

mod detailed;
mod requests;
mod task;

pub use detailed::{DetailedTask, TaskState};
pub use requests::{
    CreateTaskResult, GetTaskResult, TaskRequestParams, TaskStatusNotificationParams,
    UpdateTaskRequestParams,
};
pub use task::{Task, TaskStatus};

use crate::capabilities::ExtensionId;
use crate::result::{Complete, EmptyResult};

/// Id of the extension.
pub const EXTENSION: &str = ExtensionId::TASKS.as_str();

requests! {
    /// Cancels a task.
    CancelTask = "tasks/cancel": TaskRequestParams => Complete<EmptyResult>,
    /// Gets the status of a task and its payload.
    GetTask = "tasks/get": TaskRequestParams => Complete<GetTaskResult>,
    /// Answers the questions of a task.
    UpdateTask = "tasks/update": UpdateTaskRequestParams => Complete<EmptyResult>,
}

notifications! {
    /// Reports a change of a task.
    TaskStatusChanged = "notifications/tasks": TaskStatusNotificationParams,
}

family! {
    /// Requests of a client about its tasks.
    ClientRequest, ClientMethod: RequestMethod { CancelTask, GetTask, UpdateTask }
}

family! {
    /// Notifications of a server about subscribed tasks.
    ServerNotification, ServerNotificationMethod: NotificationMethod { TaskStatusChanged }
}
