//! Direct reader for the common requests of a client.
//!
//! [`request`] reads a text once and compares the names of members where they
//! stand. It gives up on everything unusual: an escape, a line break between
//! tokens, a member that is unknown or repeated. [`Message::decode`] then reads
//! the text from the beginning and decides; a request is never refused here.
//! What both accept, they read as the same value.
//!
//! A [`ClientMemory`] saves decoding the members of `_meta` that a client
//! repeats in every request.
//!
//! # Examples
//!
//! ```
//! use sterna_protocol::direct::{self, ClientMemory};
//! use sterna_protocol::methods::ClientRequest;
//!
//! let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{
//!     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!     "io.modelcontextprotocol/clientCapabilities":{}},"name":"echo"}}"#;
//! let body = body.to_vec().into_iter().filter(|byte| *byte != b'\n').collect::<Vec<_>>();
//! let mut memory = ClientMemory::default();
//! let Some((id, ClientRequest::CallTool(params))) = direct::request(&body, &mut memory) else {
//!     unreachable!("it is spelled as clients spell it");
//! };
//! assert_eq!((id, params.name.as_str()), (1.into(), "echo"));
//! ```
//!
//! [`Message::decode`]: crate::jsonrpc::Message::decode

mod cursor;
mod memory;
mod read;

#[cfg(test)]
mod tests;

pub use memory::ClientMemory;
pub use read::request;
