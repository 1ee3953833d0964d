//! The context of a handler, with all its verbs.

mod ask;
mod asking;
mod parts;
mod question;
mod sampling_request;
mod steps;

use std::fmt;

use http::Extensions;
use sterna_flow::{Level, Progress, RunInfo};
use sterna_http::auth::Caller;

pub(crate) use crate::call::PendingQuestions;
pub use crate::failure::AskError;
pub use ask::Ask;
pub(crate) use question::CANNOT_ASK;
pub use sampling_request::SamplingRequest;

use crate::call::Request;

/// Context of a handler: questions to the client, recorded steps, time, and the
/// request that is being served.
///
/// It belongs to one run of one handler: it cannot be cloned or moved into a
/// spawned task. The guide is `docs/flows.md`.
///
/// # Examples
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use sterna_server::{Cx, ToolError};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Approval {
///     /// Why is it safe to deploy?
///     reason: String,
/// }
///
/// async fn deploy(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
///     let approval: Approval = cx.ask("approval", "Deploy to production?").await?;
///     Ok(format!("deployed: {}", approval.reason))
/// }
/// ```
pub struct Cx<'a> {
    flow: sterna_flow::FlowCx<'a>,
    request: Request,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(flow: sterna_flow::FlowCx<'a>, request: Request) -> Self {
        Self { flow, request }
    }
}

/// # The request
impl Cx<'_> {
    /// The request that is being served.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The value of type `T` that was given to
    /// [`Server::state`](crate::Server::state).
    ///
    /// # Panics
    ///
    /// The server was given no `T`. Only this call fails.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> &T {
        self.request.state()
    }

    /// The authenticated caller.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        self.request.caller()
    }

    /// The header `name` of the HTTP request that this round came with; see
    /// [`Request::header`].
    ///
    /// ```
    /// use sterna_server::Cx;
    ///
    /// async fn greet(cx: Cx<'_>, (): ()) -> &'static str {
    ///     match cx.header("accept-language") {
    ///         Some(languages) if languages.starts_with("de") => "Guten Tag",
    ///         _ => "Good morning",
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.request.header(name)
    }

    /// Extensions that tower layers have added to the HTTP request.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        self.request.extensions()
    }
}

/// # Progress and logging
impl Cx<'_> {
    /// Sends a progress notification to the client. Silent in a replay.
    ///
    /// ```
    /// use sterna_server::{Cx, Progress};
    ///
    /// async fn index(cx: Cx<'_>, (): ()) -> &'static str {
    ///     for page in 1..=10 {
    ///         cx.progress(Progress::new(f64::from(page)).of(10.0));
    ///     }
    ///     "indexed"
    /// }
    /// ```
    pub fn progress(&self, progress: Progress) {
        self.flow.progress(progress);
    }

    /// Sends a log message to the client. Silent in a replay.
    pub fn log(&self, level: Level, message: impl fmt::Display) {
        self.flow.log(level, message);
    }

    /// State of the run: its mode, its round, and whether it is replaying.
    ///
    /// For logs, not for decisions: it differs from one replay to the next.
    #[must_use]
    pub fn info(&self) -> RunInfo {
        self.flow.info()
    }
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.flow.fmt(f)
    }
}
