//! Middleware: code that runs around every round.

mod guard;

use std::fmt;
use std::time::Duration;

pub(crate) use guard::{Middlewares, RoundGuard, RoundOutput, before, question, questions};
use ring::digest::{SHA256, digest};
use sterna_http::auth::Caller;
use sterna_protocol::input::InputRequest;
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

use crate::call::{FlowPosition, Request};
use crate::failure::RequestError;
use crate::telemetry::flow_name;

/// Code that runs around every round of every tool, prompt and resource.
///
/// It sees the method, the target, the session, the caller, the flow and the
/// round. It may refuse the round before its handler runs, change the questions
/// and the result that go out, or send an error in their place.
///
/// A round is one request of 2026-07-28, one call in a session of an older
/// revision, or one run of a task by a worker. A tower layer around
/// [`Service::into_tower`](crate::Service::into_tower) sees HTTP requests
/// instead.
///
/// The middleware that was registered first is the outermost: its `before` runs
/// first, its `question`, `result` and `after` run last. All methods run on the
/// task that serves the request, so they must not block. A panic fails the round
/// alone (MR0212).
///
/// # Examples
///
/// ```
/// use sterna_server::{Middleware, RequestError, RoundInfo, RoundResult, Server};
///
/// struct Policy;
///
/// impl Middleware for Policy {
///     fn before(&self, round: &RoundInfo<'_>) -> Result<(), RequestError> {
///         match round.target() {
///             "deploy" => Err(RequestError::invalid_params("Not on a Friday")),
///             _ => Ok(()),
///         }
///     }
///
///     fn result(&self, _: &RoundInfo<'_>, result: RoundResult<'_>) -> Result<(), RequestError> {
///         if let RoundResult::Tool(result) = result {
///             result.content.truncate(10);
///         }
///         Ok(())
///     }
/// }
///
/// let server = Server::new("deployer", "1.0.0").middleware(Policy);
/// # let _ = server;
/// ```
pub trait Middleware: Send + Sync + 'static {
    /// Called before the handler runs, after the request state has been opened.
    ///
    /// # Errors
    ///
    /// The client gets this JSON-RPC error, and the handler does not run. A task
    /// that is refused has failed.
    fn before(&self, round: &RoundInfo<'_>) -> Result<(), RequestError> {
        let _ = round;
        Ok(())
    }

    /// Called with each question before it goes out: in an `input_required`, as
    /// a request in a session, or as an input request of a task. A question that
    /// stays open is seen in every round.
    ///
    /// The answer belongs to the question that the handler asked: it is checked
    /// against that one, and its fingerprint does not change. A new text needs
    /// no other answer; a schema that accepts other answers is of no use.
    ///
    /// # Errors
    ///
    /// The client gets this JSON-RPC error in place of the questions, and the
    /// round is over. A task has failed.
    fn question(
        &self,
        round: &RoundInfo<'_>,
        key: &str,
        question: &mut InputRequest,
    ) -> Result<(), RequestError> {
        let _ = (round, key, question);
        Ok(())
    }

    /// Called with the result of the handler before it is checked against the
    /// output schema and goes out.
    ///
    /// # Errors
    ///
    /// The client gets this JSON-RPC error in place of the result.
    fn result(&self, round: &RoundInfo<'_>, result: RoundResult<'_>) -> Result<(), RequestError> {
        let _ = (round, result);
        Ok(())
    }

    /// Called when the round is over, also one that was refused; `took` is the
    /// time since its request was read.
    fn after(&self, round: &RoundInfo<'_>, ended: RoundEnd, took: Duration) {
        let _ = (round, ended, took);
    }
}

/// Result that a [`Middleware`] may change.
#[derive(Debug)]
#[non_exhaustive]
pub enum RoundResult<'a> {
    /// Result of `prompts/get`.
    Prompt(&'a mut GetPromptResult),
    /// Result of `resources/read`.
    Resource(&'a mut ReadResourceResult),
    /// Result of `tools/call`.
    Tool(&'a mut CallToolResult),
    /// Error of a tool, which the client gets as the text of a result with
    /// `isError`.
    ToolError(&'a mut String),
}

/// A round, as a [`Middleware`] sees it.
#[derive(Clone, Copy)]
pub struct RoundInfo<'a> {
    method: &'static str,
    target: &'a str,
    request: &'a Request,
    position: FlowPosition,
}

impl<'a> RoundInfo<'a> {
    /// `tools/call`, `prompts/get` or `resources/read`.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// Name of the tool or the prompt, or URI of the resource. A URI may hold
    /// private data of the client; do not log it.
    #[must_use]
    pub fn target(&self) -> &'a str {
        self.target
    }

    /// The request that is being served.
    #[must_use]
    pub fn request(&self) -> &'a Request {
        self.request
    }

    /// The authenticated caller.
    #[must_use]
    pub fn caller(&self) -> &'a Caller {
        self.request.caller()
    }

    /// A name of the session over HTTP that the request belongs to, the same for
    /// all its requests. It does not reveal the session's id. `None` for requests
    /// of 2026-07-28, which have no session, for tasks, and on stdio.
    #[must_use]
    pub fn session(&self) -> Option<String> {
        let id = self.request.session_id()?;
        let hash = digest(&SHA256, &[b"sterna session", id].concat());
        let name = hash.as_ref()[..16].iter();
        Some(name.map(|byte| format!("{byte:02x}")).collect())
    }

    /// Number of times that the flow has been at the client. Zero in sessions
    /// and tasks, which ask without ending the call.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.position.round
    }

    /// A name of the flow, the same in all its rounds; spans have it as
    /// `sterna.flow.id`. It does not reveal the flow's own id.
    #[must_use]
    pub fn flow(&self) -> String {
        format!(
            "{:032x}",
            u128::from_be_bytes(flow_name(self.position.flow))
        )
    }
}

impl fmt::Debug for RoundInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundInfo")
            .field("method", &self.method)
            .field("round", &self.position.round)
            .finish_non_exhaustive()
    }
}

/// End of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RoundEnd {
    /// The client is asked something, or a task waits.
    Asked,
    /// The client went away, or the task was cancelled.
    Cancelled,
    /// With an error, or with the error of a tool.
    Failed,
    /// With a result.
    Finished,
    /// The flow continues elsewhere: the client retries at once, or another
    /// worker takes the task.
    Shed,
}

impl RoundEnd {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Finished => "finished",
            Self::Shed => "shed",
        }
    }
}
