//! The context of a handler, with all its verbs.

mod ask;
mod question;
mod steps;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use sterna_flow::{Checkpoint, FlowCx, Level, Progress, RunInfo};
use sterna_seal::Principal;

pub use ask::{Ask, AskError};
pub(crate) use question::{Schema, check_json};

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
    /// `true` if the request may become an operation.
    may_become_task: bool,
    wants_task: AtomicBool,
    mistake: OnceLock<String>,
}

impl RequestInfo {
    pub(crate) const fn new(caller: Principal) -> Self {
        Self {
            caller,
            may_become_task: false,
            wants_task: AtomicBool::new(false),
            mistake: OnceLock::new(),
        }
    }

    /// Facts about a request that may become an operation.
    pub(crate) const fn promotable(caller: Principal) -> Self {
        let mut info = Self::new(caller);
        info.may_become_task = true;
        info
    }

    /// Returns `true` if the handler wants to go on as an operation.
    pub(crate) fn wants_task(&self) -> bool {
        self.wants_task.load(Ordering::Relaxed)
    }

    /// Wants the request to become an operation, if it may; says whether it may.
    fn want_task(&self) -> bool {
        self.wants_task
            .fetch_or(self.may_become_task, Ordering::Relaxed);
        self.may_become_task
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

    /// A point at which an operation may be handed over to another instance,
    /// because this one shuts down.
    ///
    /// Put one between two effects of a long loop: an effect that is interrupted
    /// may have happened, and [`once`](Self::once) does not do it again.
    #[track_caller]
    pub fn checkpoint(&self, name: &str) -> Checkpoint<'a> {
        self.flow.checkpoint(name)
    }

    /// Continues as an operation from here: the client gets 202 with the address
    /// of it, and every later step is committed to the store.
    ///
    /// For a route with an [`operation`](crate::Pausing::operation). Does nothing
    /// on other routes, and in a handler that is an operation already.
    pub async fn become_task(&self) {
        // A flow can go elsewhere only if it got further in this round; this makes sure.
        self.flow.checkpoint("become_task").await;
        if self.request.want_task() {
            // The runner reads the wish before the flow reaches the second checkpoint.
            tokio::task::yield_now().await;
            self.flow.checkpoint("become_task").await;
        }
    }

    /// Reports progress. Silent in a replay.
    ///
    /// An operation shows it to its client. A round trip has no place for it.
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
