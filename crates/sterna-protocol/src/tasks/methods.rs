use super::{
    GetTaskResult, TaskRequestParams, TaskStatusNotificationParams, UpdateTaskRequestParams,
};
use crate::result::{Complete, EmptyResult};

requests! {
    /// Asks that a task be called off.
    CancelTask = "tasks/cancel": TaskRequestParams => Complete<EmptyResult>,
    /// Asks how a task stands.
    GetTask = "tasks/get": TaskRequestParams => Complete<GetTaskResult>,
    /// Answers what a task asks.
    UpdateTask = "tasks/update": UpdateTaskRequestParams => Complete<EmptyResult>,
}

notifications! {
    /// A task changed.
    TaskStatusChanged = "notifications/tasks": TaskStatusNotificationParams,
}

family! {
    /// What a client asks a server about its tasks.
    ClientRequest, ClientMethod: RequestMethod { CancelTask, GetTask, UpdateTask }
}

family! {
    /// What a server tells a client about tasks it subscribed to.
    ServerNotification, ServerNotificationMethod: NotificationMethod { TaskStatusChanged }
}
