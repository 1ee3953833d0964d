use super::{
    GetTaskResult, TaskRequestParams, TaskStatusNotificationParams, UpdateTaskRequestParams,
};
use crate::result::{Complete, EmptyResult};

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
