use super::{
    CallToolRequestParams, CancelledNotificationParams, CompleteRequestParams,
    CreateMessageRequestParams, ElicitRequestParams, ElicitationCompleteNotificationParams,
    GetPromptRequestParams, GetTaskPayloadResult, InitializeRequestParams, InitializeResult,
    ListTasksResult, ListToolsResult, PaginatedRequestParams, RequestParams, ResourceRequestParams,
    SetLevelRequestParams, TaskRequestParams, TaskResult, TaskStatusNotificationParams,
};
use crate::completion::CompleteResult;
use crate::elicitation::ElicitResult;
use crate::jsonrpc::Untagged;
use crate::logging::LoggingMessageNotificationParams;
use crate::meta::NotificationParams;
use crate::progress::ProgressNotificationParams;
use crate::prompt::{GetPromptResult, ListPromptsResult};
use crate::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
    ResourceUpdatedNotificationParams,
};
use crate::result::EmptyResult;
use crate::roots::ListRootsResult;
use crate::sampling::CreateMessageResult;
use crate::tool::CallToolResult;

requests! {
    /// Calls a tool.
    CallTool = "tools/call": CallToolRequestParams => Untagged<CallToolResult>,
    /// Cancels a task.
    CancelTask = "tasks/cancel": TaskRequestParams => Untagged<TaskResult>,
    /// Suggests values for an argument.
    CompleteArgument = "completion/complete": CompleteRequestParams => Untagged<CompleteResult>,
    /// Calls the client's model.
    CreateMessage = "sampling/createMessage": CreateMessageRequestParams
        => Untagged<CreateMessageResult>,
    /// Asks the user for input.
    Elicit = "elicitation/create": ElicitRequestParams => Untagged<ElicitResult>,
    /// Gets the messages of a prompt.
    GetPrompt = "prompts/get": GetPromptRequestParams => Untagged<GetPromptResult>,
    /// Gets the status of a task.
    GetTask = "tasks/get": TaskRequestParams => Untagged<TaskResult>,
    /// Waits for the result of a task.
    GetTaskPayload = "tasks/result": TaskRequestParams => Untagged<GetTaskPayloadResult>,
    /// Opens a session.
    Initialize = "initialize": InitializeRequestParams => Untagged<InitializeResult>,
    /// Lists the prompts.
    ListPrompts = "prompts/list": Option<PaginatedRequestParams> => Untagged<ListPromptsResult>,
    /// Lists the resource templates.
    ListResourceTemplates = "resources/templates/list": Option<PaginatedRequestParams>
        => Untagged<ListResourceTemplatesResult>,
    /// Lists the resources.
    ListResources = "resources/list": Option<PaginatedRequestParams> => Untagged<ListResourcesResult>,
    /// Lists the roots.
    ListRoots = "roots/list": Option<RequestParams> => Untagged<ListRootsResult>,
    /// Lists the tasks.
    ListTasks = "tasks/list": Option<PaginatedRequestParams> => Untagged<ListTasksResult>,
    /// Lists the tools.
    ListTools = "tools/list": Option<PaginatedRequestParams> => Untagged<ListToolsResult>,
    /// Checks that the peer responds.
    Ping = "ping": Option<RequestParams> => Untagged<EmptyResult>,
    /// Reads the contents of a resource.
    ReadResource = "resources/read": ResourceRequestParams => Untagged<ReadResourceResult>,
    /// Sets the level of log messages in the session.
    SetLevel = "logging/setLevel": SetLevelRequestParams => Untagged<EmptyResult>,
    /// Subscribes to updates of a resource.
    Subscribe = "resources/subscribe": ResourceRequestParams => Untagged<EmptyResult>,
    /// Unsubscribes from updates of a resource.
    Unsubscribe = "resources/unsubscribe": ResourceRequestParams => Untagged<EmptyResult>,
}

notifications! {
    /// Cancels a request.
    Cancelled = "notifications/cancelled": CancelledNotificationParams,
    /// Reports that the user's visit to a URL is complete.
    ElicitationComplete = "notifications/elicitation/complete":
        ElicitationCompleteNotificationParams,
    /// Reports that the client has opened the session.
    Initialized = "notifications/initialized": Option<NotificationParams>,
    /// Sends a log message.
    LoggingMessage = "notifications/message": LoggingMessageNotificationParams,
    /// Reports the progress of a request.
    Progress = "notifications/progress": ProgressNotificationParams,
    /// Reports a change of the list of prompts.
    PromptListChanged = "notifications/prompts/list_changed": Option<NotificationParams>,
    /// Reports a change of the list of resources.
    ResourceListChanged = "notifications/resources/list_changed": Option<NotificationParams>,
    /// Reports an update of a resource.
    ResourceUpdated = "notifications/resources/updated": ResourceUpdatedNotificationParams,
    /// Reports a change of the roots.
    RootsListChanged = "notifications/roots/list_changed": Option<NotificationParams>,
    /// Reports a change of a task.
    TaskStatusChanged = "notifications/tasks/status": TaskStatusNotificationParams,
    /// Reports a change of the list of tools.
    ToolListChanged = "notifications/tools/list_changed": Option<NotificationParams>,
}

family! {
    /// Requests of a client to a server.
    #[expect(clippy::large_enum_variant, reason = "matched right after decoding")]
    ClientRequest, ClientMethod: RequestMethod {
        CallTool, CancelTask, CompleteArgument, GetPrompt, GetTask, GetTaskPayload, Initialize,
        ListPrompts, ListResourceTemplates, ListResources, ListTasks, ListTools, Ping,
        ReadResource, SetLevel, Subscribe, Unsubscribe,
    }
}

family! {
    /// Notifications of a client to a server.
    ClientNotification, ClientNotificationMethod: NotificationMethod {
        Cancelled, Initialized, Progress, RootsListChanged, TaskStatusChanged,
    }
}

family! {
    /// Requests of a server to a client, sent during a request of the client.
    ServerRequest, ServerMethod: RequestMethod {
        CancelTask, CreateMessage, Elicit, GetTask, GetTaskPayload, ListRoots, ListTasks, Ping,
    }
}

family! {
    /// Notifications of a server to a client.
    ServerNotification, ServerNotificationMethod: NotificationMethod {
        Cancelled, ElicitationComplete, LoggingMessage, Progress, PromptListChanged,
        ResourceListChanged, ResourceUpdated, TaskStatusChanged, ToolListChanged,
    }
}
