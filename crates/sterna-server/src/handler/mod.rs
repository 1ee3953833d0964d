//! Async functions of an author, and what they may return.

mod params;
mod prompt_result;
mod resource_result;
mod tool_error;
mod tool_result;

use std::pin::Pin;

use serde_json::Value;
use sterna_protocol::result::Outcome;

pub use params::{Handler, Params, State};
pub use prompt_result::IntoPromptResult;
pub use resource_result::IntoResourceResult;
pub use tool_error::ToolError;
pub(crate) use tool_result::schema_of_output;
pub use tool_result::{IntoToolResult, Json};

use crate::call::{Answers, Call};
use crate::cx::Cx;
pub use crate::failure::RequestError;

use crate::failure::Failure;

/// A call in progress. It owns all it needs, because an answer that has become
/// an event stream owns the call.
pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>>;

/// Boxes a call with what becomes of its output.
///
/// A function of its own: in it the compiler need not show that the future is
/// `Send` for every lifetime of its context.
pub(crate) fn boxed<F, T>(
    running: F,
    finish: impl FnOnce(F::Output) -> Result<T, Failure> + Send + 'static,
) -> Boxed<T>
where
    F: Future + Send + 'static,
{
    Box::pin(async move { finish(running.await) })
}

/// Kind of handler that serves an entry of the catalog.
pub(crate) enum HandlerKind<T> {
    /// By straight-line code that is replayed.
    Flow(Box<FlowHandler<T>>),
    /// By code that returns its questions itself.
    LowLevel(Box<LowLevel<T>>),
}

pub(crate) type FlowHandler<T> = dyn Fn(Cx<'static>, &Value) -> Boxed<T> + Send + Sync;
pub(crate) type LowLevel<T> = dyn Fn(Call, Answers) -> Boxed<Outcome<T>> + Send + Sync;

impl<T> std::fmt::Debug for HandlerKind<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Flow(_) => "Flow",
            Self::LowLevel(_) => "LowLevel",
        })
    }
}
