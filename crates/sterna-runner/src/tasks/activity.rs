//! Knows whether the workers of an instance have something to do.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// Tasks that this instance works on, and the end of the last one.
#[derive(Debug, Default)]
pub(super) struct Activity(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: usize,
    ended: Option<Instant>,
}

impl Activity {
    /// Notes that a task is worked on until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Working {
        self.lock().running += 1;
        Working(Arc::clone(self))
    }

    pub(super) fn last(&self) -> Option<Instant> {
        let state = self.lock();
        match state.running {
            0 => state.ended,
            _ => Some(Instant::now()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work on a task that goes on.
#[derive(Debug)]
pub(super) struct Working(Arc<Activity>);

impl Drop for Working {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.running -= 1;
        state.ended = Some(Instant::now());
    }
}
