//! JSON-RPC 2.0 as MCP narrows it.

mod dispatch;
mod error;
mod id;

pub use dispatch::{Answer, Dispatch, Untagged};
pub use error::{ErrorCode, ErrorObject};
pub use id::RequestId;
