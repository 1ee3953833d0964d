//! JSON-RPC 2.0, with the restrictions of MCP.
//!
//! [`Message::decode`] decodes bytes to the types of the method, or of the
//! request that is answered; [`Message::raw`] keeps payloads as text.
//! [`Dispatch`] families such as
//! [`ClientRequest`](crate::methods::ClientRequest) determine these types. A
//! [`DecodeError`] holds the id of the request to answer.

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
pub(crate) use depth::openers;
pub use dispatch::{Dispatch, Nothing};
pub use error::{ErrorCode, ErrorObject};
pub use fault::{DecodeError, Fault};
pub use id::RequestId;
pub use message::{ErrorResponse, Message, Notification, Request, ResultResponse};
