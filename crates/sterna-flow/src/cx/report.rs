//! Progress and logs of a handler, and information about its run.

use std::fmt;
use std::sync::Arc;

use super::FlowCx;
use crate::backends::{Level, Listener, Progress};
use crate::run::ExecutionMode;

impl FlowCx<'_> {
    /// Reports how far the handler has come. Silent in a replay.
    pub fn progress(&self, progress: Progress) {
        if let Some(listener) = self.audience() {
            listener.progress(progress);
        }
    }

    /// Says something for the log. Silent in a replay.
    pub fn log(&self, level: Level, message: impl fmt::Display) {
        if let Some(listener) = self.audience() {
            listener.log(level, &message.to_string());
        }
    }

    /// The listener, unless an earlier run has reported already.
    fn audience(&self) -> Option<&Arc<dyn Listener>> {
        let fresh = self.shared.lock().fresh;
        self.shared.listener.as_ref().filter(|_| fresh)
    }

    /// Information about this run.
    #[must_use]
    pub fn info(&self) -> RunInfo {
        let shared = &self.shared;
        RunInfo {
            mode: shared.mode,
            round: shared.round,
            rounds_left: shared
                .engine
                .settings
                .max_rounds
                .saturating_sub(shared.round),
            replaying: !shared.lock().fresh,
            principal: shared.principal.clone(),
        }
    }
}

/// Information about a run, for logs and for hints to the user. Not for
/// decisions: it differs from one replay to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// In which way it runs.
    pub mode: ExecutionMode,
    /// Number of round trips so far.
    pub round: u32,
    /// Number of round trips that are left.
    pub rounds_left: u32,
    /// `true` while the handler replays what an earlier run did.
    pub replaying: bool,
    /// Name of the caller, if the server gave one.
    pub principal: Option<Arc<str>>,
}
