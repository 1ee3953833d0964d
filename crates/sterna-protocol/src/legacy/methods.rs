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
    /// Has a tool do something.
    CallTool = "tools/call": CallToolRequestParams => Untagged<CallToolResult>,
    /// Calls a task off.
    CancelTask = "tasks/cancel": TaskRequestParams => Untagged<TaskResult>,
    /// Suggests how an argument goes on.
    CompleteArgument = "completion/complete": CompleteRequestParams => Untagged<CompleteResult>,
    /// Has a model write something.
    CreateMessage = "sampling/createMessage": CreateMessageRequestParams
        => Untagged<CreateMessageResult>,
    /// Asks the user.
    Elicit = "elicitation/create": ElicitRequestParams => Untagged<ElicitResult>,
    /// Has a prompt written.
    GetPrompt = "prompts/get": GetPromptRequestParams => Untagged<GetPromptResult>,
    /// Asks how a task stands.
    GetTask = "tasks/get": TaskRequestParams => Untagged<TaskResult>,
    /// Waits for what comes of a task.
    GetTaskPayload = "tasks/result": TaskRequestParams => Untagged<GetTaskPayloadResult>,
    /// Opens a session.
    Initialize = "initialize": InitializeRequestParams => Untagged<InitializeResult>,
    /// Lists the prompts.
    ListPrompts = "prompts/list": Option<PaginatedRequestParams> => Untagged<ListPromptsResult>,
    /// Lists the patterns of resources.
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
    /// Asks whether the other side is there.
    Ping = "ping": Option<RequestParams> => Untagged<EmptyResult>,
    /// Reads a resource out.
    ReadResource = "resources/read": ResourceRequestParams => Untagged<ReadResourceResult>,
    /// Asks for log messages.
    SetLevel = "logging/setLevel": SetLevelRequestParams => Untagged<EmptyResult>,
    /// Asks to hear of changes to a resource.
    Subscribe = "resources/subscribe": ResourceRequestParams => Untagged<EmptyResult>,
    /// Asks not to hear of them any more.
    Unsubscribe = "resources/unsubscribe": ResourceRequestParams => Untagged<EmptyResult>,
}

notifications! {
    /// Takes a request back.
    Cancelled = "notifications/cancelled": CancelledNotificationParams,
    /// A visit to a URL is over.
    ElicitationComplete = "notifications/elicitation/complete":
        ElicitationCompleteNotificationParams,
    /// The session is open.
    Initialized = "notifications/initialized": Option<NotificationParams>,
    /// Says something for the log.
    LoggingMessage = "notifications/message": LoggingMessageNotificationParams,
    /// Says how far a request is.
    Progress = "notifications/progress": ProgressNotificationParams,
    /// The list of prompts changed.
    PromptListChanged = "notifications/prompts/list_changed": Option<NotificationParams>,
    /// The list of resources changed.
    ResourceListChanged = "notifications/resources/list_changed": Option<NotificationParams>,
    /// A resource changed.
    ResourceUpdated = "notifications/resources/updated": ResourceUpdatedNotificationParams,
    /// The roots changed.
    RootsListChanged = "notifications/roots/list_changed": Option<NotificationParams>,
    /// A task changed.
    TaskStatusChanged = "notifications/tasks/status": TaskStatusNotificationParams,
    /// The list of tools changed.
    ToolListChanged = "notifications/tools/list_changed": Option<NotificationParams>,
}

family! {
    /// What a client asks a server.
    #[expect(clippy::large_enum_variant, reason = "taken apart as soon as it is read")]
    ClientRequest, ClientMethod: RequestMethod {
        CallTool, CancelTask, CompleteArgument, GetPrompt, GetTask, GetTaskPayload, Initialize,
        ListPrompts, ListResourceTemplates, ListResources, ListTasks, ListTools, Ping,
        ReadResource, SetLevel, Subscribe, Unsubscribe,
    }
}

family! {
    /// What a client tells a server.
    ClientNotification, ClientNotificationMethod: NotificationMethod {
        Cancelled, Initialized, Progress, RootsListChanged, TaskStatusChanged,
    }
}

family! {
    /// What a server asks a client while it works on a request.
    ServerRequest, ServerMethod: RequestMethod {
        CancelTask, CreateMessage, Elicit, GetTask, GetTaskPayload, ListRoots, ListTasks, Ping,
    }
}

family! {
    /// What a server tells a client.
    ServerNotification, ServerNotificationMethod: NotificationMethod {
        Cancelled, ElicitationComplete, LoggingMessage, Progress, PromptListChanged,
        ResourceListChanged, ResourceUpdated, TaskStatusChanged, ToolListChanged,
    }
}
