//! The Model Context Protocol as data: messages, envelope, headers and framing.
//!
//! The crate does no I/O, reads no clock and never blocks. It decodes bytes to
//! typed messages and encodes typed messages to bytes. All input is treated as
//! hostile.
//!
//! ```
//! use sterna_protocol::jsonrpc::{Message, ResultResponse};
//! use sterna_protocol::methods::{ClientNotification, ClientRequest};
//! use sterna_protocol::result::Outcome;
//! use sterna_protocol::tool::CallToolResult;
//!
//! /// Message of a client of 2026-07-28 to a server.
//! type FromClient<'a> = Message<'a, ClientRequest, ClientNotification>;
//!
//! let body = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{
//!     "_meta":{
//!         "io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!         "io.modelcontextprotocol/clientCapabilities":{}
//!     },
//!     "name":"greet","arguments":{"name":"Ada"}
//! }}"#;
//! let Message::Request(request) = FromClient::decode(body)? else {
//!     return Err("not a request".into());
//! };
//! let result: Outcome<CallToolResult> = match request.params {
//!     ClientRequest::CallTool(call) if call.name == "greet" => {
//!         #[derive(serde::Deserialize)]
//!         struct Greet {
//!             name: String,
//!         }
//!         let greet: Greet = call.arguments.unwrap_or_default().decode()?;
//!         Outcome::Complete(CallToolResult::text(format!("Hello, {}", greet.name)))
//!     }
//!     other => return Err(format!("unexpected method {}", other.method().as_str()).into()),
//! };
//!
//! let mut answer = Vec::new();
//! ResultResponse::new(request.id, result).encode(&mut answer)?;
//! assert_eq!(
//!     String::from_utf8(answer)?,
//!     r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[{"type":"text","text":"Hello, Ada"}]}}"#,
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! - The envelope is in [`jsonrpc`], HTTP headers and framing in [`http`],
//!   [`sse`] and [`lines`].
//! - [`methods`] lists the methods. Their parameters and results are in modules
//!   named for the pages of the specification: [`tool`], [`prompt`],
//!   [`resource`], [`elicitation`] and so on.
//! - Multi round-trip requests are in [`input`]; [`result`] distinguishes
//!   complete results from requests for input.
//! - [`tasks`] is the tasks extension. [`legacy`] holds the types of revisions
//!   before 2026-07-28 that differ, [`sep2322`] the tasks that SEP-2322
//!   proposed.
//!
//! # Rules for all messages
//!
//! Unknown members are kept in the `extra` of a type and unknown names in the
//! `Other` of an enum; both are written back. A member that the schema requires
//! must be present. An optional member may be missing, and may be null only
//! where the schema allows it. A member that occurs twice is an error.

// Modules use those above them, never those below.
#[macro_use]
pub mod json;
pub mod lines;
pub mod sse;
pub mod uri;

#[macro_use]
pub mod caching;
pub mod implementation;
#[macro_use]
pub mod jsonrpc;
pub mod version;

mod annotations;
mod meta_key;
mod notification;
mod retry;

pub mod cancellation;
pub mod capabilities;
pub mod logging;
pub mod progress;

pub mod errors;
pub mod meta;

pub mod completion;
pub mod discover;
pub mod elicitation;
pub mod pagination;
pub mod resource;
pub mod roots;
pub mod subscription;

pub mod content;

pub mod prompt;
pub mod tool;

pub mod http;
pub mod sampling;

pub mod input;

pub mod result;

pub mod tasks;

pub mod legacy;
pub mod methods;

pub mod direct;

pub mod sep2322;

#[cfg(test)]
mod laws;
