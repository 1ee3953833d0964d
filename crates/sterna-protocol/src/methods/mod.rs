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

mod client;
mod server;

pub use client::{
    CallTool, ClientMethod, ClientNotification, ClientNotificationMethod, ClientRequest,
    CompleteArgument, Discover, GetPrompt, ListPrompts, ListResourceTemplates, ListResources,
    ListTools, ReadResource, SubscriptionsListen,
};
pub use server::{
    Cancelled, LoggingMessage, Progress, PromptListChanged, ResourceListChanged, ResourceUpdated,
    ServerNotification, ServerNotificationMethod, SubscriptionsAcknowledged, ToolListChanged,
};

pub use crate::jsonrpc::method::{NotificationMethod, Or, RequestMethod};
