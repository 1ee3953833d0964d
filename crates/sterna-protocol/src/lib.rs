//! The Model Context Protocol as data: messages, envelope, headers and framing.
//!
//! Nothing here does I/O, knows the time or waits for anybody. Bytes come in,
//! typed messages come out, and the other way round; every byte of a peer is
//! taken for hostile.
//!
//! ```
//! use sterna_protocol::jsonrpc::{Message, ResultResponse};
//! use sterna_protocol::methods::{ClientNotification, ClientRequest};
//! use sterna_protocol::result::Outcome;
//! use sterna_protocol::tool::CallToolResult;
//!
//! /// What a client of 2026-07-28 may send to a server.
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
//!     other => return Err(format!("nobody does {}", other.method().as_str()).into()),
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
//! # Where things are
//!
//! - The envelope is in [`jsonrpc`], what surrounds it in [`http`], [`sse`] and
//!   [`lines`].
//! - [`methods`] says which methods there are; what they take and give stands
//!   in modules named for the pages of the specification: [`tool`],
//!   [`prompt`], [`resource`], [`elicitation`] and so on.
//! - Multi round-trip requests are in [`input`]; [`result`] tells their results
//!   from finished ones.
//! - [`tasks`] is the extension of that name, [`legacy`] what the revisions
//!   before 2026-07-28 do differently, [`sep2322`] the tasks that were
//!   proposed with multi round-trip requests.
//!
//! # What all messages have in common
//!
//! Members that a type does not know are kept in its `extra`, names that an
//! enum does not know in its `Other`, and both are written again. A member that
//! the schema requires must be there; one that it does not may be missing, but
//! is null only where the schema says so. No member may stand twice.

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

pub mod sep2322;

#[cfg(test)]
mod laws;
