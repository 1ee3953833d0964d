//! Methods of 2026-07-28, by sender: names, parameters and results.
//!
//! Every method has a type without values that ties its name to its parameters
//! and its result. [`ClientRequest`] and the other enums hold the parameters of
//! any method that one side may receive;
//! [`Message::decode`](crate::jsonrpc::Message::decode) decodes to them.
//!
//! # Examples
//!
//! ```
//! use sterna_protocol::jsonrpc::Message;
//! use sterna_protocol::methods::{CallTool, ClientNotification, ClientRequest, RequestMethod};
//!
//! type FromClient<'a> = Message<'a, ClientRequest, ClientNotification>;
//!
//! let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{
//!     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
//! let Message::Request(request) = FromClient::decode(body)? else {
//!     unreachable!("it has a method and an id");
//! };
//! let ClientRequest::CallTool(params) = request.params else {
//!     unreachable!("its method is {}", CallTool::METHOD);
//! };
//! assert_eq!(params.name, "echo");
//! # Ok::<(), sterna_protocol::jsonrpc::DecodeError>(())
//! ```

pub use crate::jsonrpc::method::{NotificationMethod, Or, RequestMethod};

use crate::cancellation::CancelledNotificationParams;
use crate::completion::{CompleteRequestParams, CompleteResult};
use crate::discover::DiscoverResult;
use crate::logging::LoggingMessageNotificationParams;
use crate::meta::{NotificationParams, RequestParams};
use crate::pagination::PaginatedRequestParams;
use crate::progress::ProgressNotificationParams;
use crate::prompt::{GetPromptRequestParams, GetPromptResult, ListPromptsResult};
use crate::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams,
    ReadResourceResult, ResourceUpdatedNotificationParams,
};
use crate::result::{Complete, Outcome};
use crate::subscription::{
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
};
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

notifications! {
    /// Cancels a request or, sent by the server, ends a subscription.
    Cancelled = "notifications/cancelled": CancelledNotificationParams,
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
    /// Reports the notifications that a subscription will receive.
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged":
        SubscriptionsAcknowledgedNotificationParams,
    /// Reports a change of the list of tools.
    ToolListChanged = "notifications/tools/list_changed": Option<NotificationParams>,
}

family! {
    /// Notifications of a server to a client.
    ServerNotification, ServerNotificationMethod: NotificationMethod {
        Cancelled, LoggingMessage, Progress, PromptListChanged, ResourceListChanged,
        ResourceUpdated, SubscriptionsAcknowledged, ToolListChanged,
    }
}
