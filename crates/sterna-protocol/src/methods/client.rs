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
    /// Has a tool do something.
    ///
    /// A client that did not declare the tasks extension must not accept its
    /// result.
    CallTool = "tools/call": CallToolRequestParams => Outcome<CallToolResult, CreateTaskResult>,
    /// Suggests how an argument goes on.
    CompleteArgument = "completion/complete": CompleteRequestParams => Complete<CompleteResult>,
    /// Asks what the server is and which revisions it speaks.
    Discover = "server/discover": RequestParams => Complete<DiscoverResult>,
    /// Has a prompt written.
    GetPrompt = "prompts/get": GetPromptRequestParams => Outcome<GetPromptResult>,
    /// Lists the prompts.
    ListPrompts = "prompts/list": PaginatedRequestParams => Complete<ListPromptsResult>,
    /// Lists the patterns of resources.
    ListResourceTemplates = "resources/templates/list": PaginatedRequestParams
        => Complete<ListResourceTemplatesResult>,
    /// Lists the resources.
    ListResources = "resources/list": PaginatedRequestParams
        => Complete<ListResourcesResult>,
    /// Lists the tools.
    ListTools = "tools/list": PaginatedRequestParams => Complete<ListToolsResult>,
    /// Reads a resource out.
    ReadResource = "resources/read": ReadResourceRequestParams => Outcome<ReadResourceResult>,
    /// Opens a stream of notifications.
    SubscriptionsListen = "subscriptions/listen": SubscriptionsListenRequestParams
        => Complete<SubscriptionsListenResult>,
}

family! {
    /// What a client asks a server.
    ClientRequest, ClientMethod: RequestMethod {
        CallTool, CompleteArgument, Discover, GetPrompt, ListPrompts, ListResourceTemplates,
        ListResources, ListTools, ReadResource, SubscriptionsListen,
    }
}

family! {
    /// What a client tells a server.
    ClientNotification, ClientNotificationMethod: NotificationMethod { Cancelled }
}
