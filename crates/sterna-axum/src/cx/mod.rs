//! The context of a handler, with all its verbs.

mod ask;
mod question;
mod steps;

use std::fmt;
use std::sync::{Arc, OnceLock};

use sterna_flow::{FlowCx, Level, Progress, RunInfo};
use sterna_seal::Principal;

pub use ask::{Ask, AskError};
pub(crate) use question::Schema;

/// Context of a handler: questions to the client, recorded steps, and time.
///
/// It belongs to one run of one handler: it cannot be cloned or moved into a
/// spawned task. It has the verbs of `sterna_server::Cx`, and they do the same.
///
/// # Examples
///
/// ```
/// use axum::Json;
/// use axum::extract::Path;
/// use sterna_axum::{Cx, Problem};
///
/// async fn delete(cx: Cx<'_>, Path(project): Path<String>) -> Result<Json<bool>, Problem> {
///     let sure = cx.confirm("sure", format!("Delete {project} for good?")).await?;
///     Ok(Json(sure))
/// }
/// # let _ = sterna_axum::pausing::<_, _, _, (), _>(delete);
/// ```
pub struct Cx<'a> {
    flow: FlowCx<'a>,
    request: Arc<RequestInfo>,
}

/// Facts about the request of a handler, and what its handler tells the runner.
#[derive(Debug)]
pub(crate) struct RequestInfo {
    pub(crate) caller: Principal,
    mistake: OnceLock<String>,
}

impl RequestInfo {
    pub(crate) const fn new(caller: Principal) -> Self {
        Self {
            caller,
            mistake: OnceLock::new(),
        }
    }

    /// Returns the first mistake that the handler's author has made.
    pub(crate) fn mistake(&self) -> Option<&str> {
        self.mistake.get().map(String::as_str)
    }

    fn record_mistake(&self, mistake: impl fmt::Display) {
        let _ = self.mistake.set(mistake.to_string());
    }
}

impl<'a> Cx<'a> {
    pub(crate) const fn new(flow: FlowCx<'a>, request: Arc<RequestInfo>) -> Self {
        Self { flow, request }
    }

    /// Returns the caller who began the flow. A state is good for this caller
    /// only.
    #[must_use]
    pub fn caller(&self) -> &Principal {
        &self.request.caller
    }

    /// Reports progress. Silent in a replay.
    pub fn progress(&self, progress: Progress) {
        self.flow.progress(progress);
    }

    /// Writes a log message. Silent in a replay.
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
