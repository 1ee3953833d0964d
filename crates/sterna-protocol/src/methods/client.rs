use super::Cancelled;
use crate::completion::{CompleteRequestParams, CompleteResult};
use crate::discover::DiscoverResult;
use crate::meta::RequestParams;
use crate::pagination::PaginatedRequestParams;
use crate::prompt::{GetPromptRequestParams, GetPromptResult, ListPromptsResult};
use crate::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams, ReadResourceResult,
};
use crate::result::{Complete, Outcome};
use crate::subscription::{SubscriptionsListenRequestParams, SubscriptionsListenResult};
use crate::tasks::CreateTaskResult;
use crate::tool::{CallToolRequestParams, CallToolResult, ListToolsResult};

requests! {
    /// Calls a tool.
    ///
    /// A client that did not declare the tasks extension must refuse its
    /// result.
    CallTool = "tools/call": CallToolRequestParams => Outcome<CallToolResult, CreateTaskResult>,
    /// Suggests values for an argument.
    CompleteArgument = "completion/complete": CompleteRequestParams => Complete<CompleteResult>,
    /// Gets the identity, capabilities and protocol versions of the server.
    Discover = "server/discover": RequestParams => Complete<DiscoverResult>,
    /// Gets the messages of a prompt.
    GetPrompt = "prompts/get": GetPromptRequestParams => Outcome<GetPromptResult>,
    /// Lists the prompts.
    ListPrompts = "prompts/list": PaginatedRequestParams => Complete<ListPromptsResult>,
    /// Lists the resource templates.
    ListResourceTemplates = "resources/templates/list": PaginatedRequestParams
        => Complete<ListResourceTemplatesResult>,
    /// Lists the resources.
    ListResources = "resources/list": PaginatedRequestParams
        => Complete<ListResourcesResult>,
    /// Lists the tools.
    ListTools = "tools/list": PaginatedRequestParams => Complete<ListToolsResult>,
    /// Reads the contents of a resource.
    ReadResource = "resources/read": ReadResourceRequestParams => Outcome<ReadResourceResult>,
    /// Opens a stream of notifications.
    SubscriptionsListen = "subscriptions/listen": SubscriptionsListenRequestParams
        => Complete<SubscriptionsListenResult>,
}

family! {
    /// Requests of a client to a server.
    ClientRequest, ClientMethod: RequestMethod {
        CallTool, CompleteArgument, Discover, GetPrompt, ListPrompts, ListResourceTemplates,
        ListResources, ListTools, ReadResource, SubscriptionsListen,
    }
}

family! {
    /// Notifications of a client to a server.
    ClientNotification, ClientNotificationMethod: NotificationMethod { Cancelled }
}
