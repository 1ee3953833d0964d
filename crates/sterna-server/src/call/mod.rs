//! The request that is being served, as a handler sees it.

mod answers;
mod pending;
mod questions;
mod report;
mod request;
pub(crate) mod text;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use sterna_flow::{Level, Listener, Progress};

pub use answers::{Answers, form_schema};
pub(crate) use pending::{PendingQuestion, PendingQuestions};
pub(crate) use questions::{
    AskedQuestions, FormQuestion, QuestionContent, Questions, write_string,
};
pub(crate) use report::Reporter;
pub use request::Request;
pub(crate) use request::{
    FlowPosition, Headers, RequestInner, TaskPromotion, missing_capabilities,
};

/// One round of a low-level handler: what it is called with.
///
/// Everything that is true of the request at hand comes from [`Request`], which
/// it derefs to.
#[derive(Clone)]
pub struct Call {
    request: Request,
    arguments: Arc<Value>,
    written: Written,
    state: Option<Arc<str>>,
    round: u32,
}

/// Form of the arguments of a call on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Written {
    AsJson,
    AsText,
}

impl Call {
    pub(crate) fn new(
        request: Request,
        arguments: Arc<Value>,
        written: Written,
        state: Option<Arc<str>>,
        round: u32,
    ) -> Self {
        Self {
            request,
            arguments,
            written,
            state,
            round,
        }
    }

    /// The arguments: of a tool or a prompt those of the caller, of a resource
    /// template an object with its `uri` and its `variables`, of a resource its
    /// URI. Those of a prompt and the variables are text, which is read as `T`
    /// wants it: a number, `true` or `false`.
    ///
    /// # Errors
    ///
    /// They are not a `T`.
    pub fn arguments<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        match self.written {
            Written::AsJson => T::deserialize(&*self.arguments),
            Written::AsText => text::read(&self.arguments),
        }
    }

    /// The state that the round before returned.
    ///
    /// It is the handler's own: the client could neither read nor change it,
    /// nor bring it here from another request.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Number of times that the request was returned to the client, as the state
    /// tells; always 0 for a handler that returns no state.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Reports how far the handler has come, if the client wants to know.
    pub fn progress(&self, progress: Progress) {
        if let Some(reporter) = self.request.reporter() {
            reporter.progress(progress);
        }
    }

    /// Says something for the client's log, if it asked for that level.
    pub fn log(&self, level: Level, message: impl fmt::Display) {
        if let Some(reporter) = self.request.reporter() {
            reporter.log(level, &message.to_string());
        }
    }
}

impl Deref for Call {
    type Target = Request;

    fn deref(&self) -> &Request {
        &self.request
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}
