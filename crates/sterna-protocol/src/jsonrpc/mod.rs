//! JSON-RPC 2.0 as MCP narrows it.

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
mod text;

pub use answer::{Answer, Untagged};
pub use depth::MAX_DEPTH;
pub use dispatch::Dispatch;
pub use error::{ErrorCode, ErrorObject};
pub use fault::{DecodeError, Fault};
pub use id::RequestId;
pub use message::{ErrorResponse, Message, Notification, Request, ResultResponse};
pub(crate) use text::Text;
