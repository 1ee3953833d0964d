//! The tasks that SEP-2322 describes, before they became an extension.
//!
//! They are the tasks of 2025-11-25 (see [`legacy`](crate::legacy)), except
//! that a task that needs input is not asked through a request of the server:
//! `tasks/result` is answered with what it asks, and `tasks/input_response`
//! takes the answers.

mod call;
mod input_response;
mod methods;

pub use call::CallToolRequestParams;
pub use input_response::{InputResponseMeta, InputResponseRequestParams, TaskInputResponseParams};
pub use methods::{CallTool, ClientMethod, ClientRequest, GetTaskPayload, InputResponse};
