//! Async functions of an author, and what they may return.

mod params;
mod prompt_result;
mod resource_result;
mod tool_error;
mod tool_result;

use std::borrow::Cow;
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

/// Input of a handler: the arguments of the call, checked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HandlerInput<'a> {
    /// JSON text that fits its schema and has no member twice.
    Text(&'a str),
    Tree(&'a Value),
}

impl<'a> HandlerInput<'a> {
    /// The arguments as a tree.
    pub(crate) fn tree(self) -> Cow<'a, Value> {
        match self {
            // A text that was accepted is JSON.
            Self::Text(text) => Cow::Owned(serde_json::from_str(text).unwrap_or_default()),
            Self::Tree(tree) => Cow::Borrowed(tree),
        }
    }
}

/// Kind of handler that serves an entry of the catalog.
pub(crate) enum HandlerKind<T> {
    /// By the server's backend.
    Backend,
    /// By straight-line code that is replayed.
    Flow(Box<FlowHandler<T>>),
    /// By code that returns its questions itself.
    LowLevel(Box<LowLevel<T>>),
}

pub(crate) type FlowHandler<T> = dyn Fn(Cx<'static>, HandlerInput<'_>) -> Boxed<T> + Send + Sync;
pub(crate) type LowLevel<T> = dyn Fn(Call, Answers) -> Boxed<Outcome<T>> + Send + Sync;

impl<T> std::fmt::Debug for HandlerKind<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Backend => "Backend",
            Self::Flow(_) => "Flow",
            Self::LowLevel(_) => "LowLevel",
        })
    }
}
