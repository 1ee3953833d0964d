//! Tasks as SEP-2322 proposes them, before they became an extension.
//!
//! They are the tasks of 2025-11-25 (see [`legacy`](crate::legacy)) with one
//! difference: a task that needs input sends no request to the client.
//! `tasks/result` returns its questions, and `tasks/input_response` takes the
//! answers.

mod call;
mod input_response;
mod methods;

pub use call::CallToolRequestParams;
pub use input_response::{InputResponseMeta, InputResponseRequestParams, TaskInputResponseParams};
pub use methods::{CallTool, ClientMethod, ClientRequest, GetTaskPayload, InputResponse};
