//! What a handler says about itself, and what it can know.

use std::fmt;
use std::sync::Arc;

use super::Cx;
use crate::plugs::{Level, Listener, Progress};
use crate::run::Way;

impl Cx<'_> {
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

    /// Who listens, unless an earlier run has said it all.
    fn audience(&self) -> Option<&Arc<dyn Listener>> {
        let fresh = self.shared.lock().fresh;
        self.shared.listener.as_ref().filter(|_| fresh)
    }

    /// Where the handler stands.
    #[must_use]
    pub fn info(&self) -> Standing {
        let shared = &self.shared;
        Standing {
            way: shared.way,
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

/// Where a handler stands. Good for logs and for advice to the user, not for
/// decisions: it differs from one replay to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    /// In which way it runs.
    pub way: Way,
    /// How often the flow has been back at the client.
    pub round: u32,
    /// How often it still may go there.
    pub rounds_left: u32,
    /// Whether an earlier run has been here.
    pub replaying: bool,
    /// Who is calling.
    pub principal: Option<Arc<str>>,
}
