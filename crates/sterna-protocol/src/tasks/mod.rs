//! Tasks extension (`io.modelcontextprotocol/tasks`): requests that continue
//! after their response.

mod detailed;
mod methods;
mod requests;
mod task;

pub use detailed::{DetailedTask, TaskState};
pub use methods::{
    CancelTask, ClientMethod, ClientRequest, GetTask, ServerNotification, ServerNotificationMethod,
    TaskStatusChanged, UpdateTask,
};
pub use requests::{
    CreateTaskResult, GetTaskResult, TaskRequestParams, TaskStatusNotificationParams,
    UpdateTaskRequestParams,
};
pub use task::{Task, TaskStatus};

use crate::capabilities::ExtensionId;

/// Id of the extension.
pub const EXTENSION: &str = ExtensionId::TASKS.as_str();
