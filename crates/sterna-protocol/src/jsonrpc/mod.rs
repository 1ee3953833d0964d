//! JSON-RPC 2.0 as MCP narrows it.
//!
//! [`Message::decode`] reads bytes into the types that the method, or the
//! request that is answered, asks for; [`Message::raw`] leaves payloads as text.
//! Which types those are is said by the [`Dispatch`] families that it is given,
//! such as [`ClientRequest`](crate::methods::ClientRequest). A refusal is a
//! [`DecodeError`] that knows which request to answer and with what.

#[macro_use]
pub(crate) mod method;
mod answer;
mod body;
mod decode;
mod depth;
mod dispatch;
mod encode;
mod error;
mod fault;
mod id;
mod member;
mod message;
mod recover;

pub use answer::{Answer, Untagged};
pub use depth::MAX_DEPTH;
pub use dispatch::{Dispatch, Nothing};
pub use error::{ErrorCode, ErrorObject};
pub use fault::{DecodeError, Fault};
pub use id::RequestId;
pub use message::{ErrorResponse, Message, Notification, Request, ResultResponse};
