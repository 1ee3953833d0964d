//! A hold on a run from elsewhere.

use std::fmt;
use std::sync::{Arc, Weak};
use std::task::Wake;

use crate::shared::Shared;

/// A hold on a run from elsewhere: another task may end it or send it away.
#[derive(Clone)]
pub struct Remote<'a>(Weak<Shared<'a>>);

impl<'a> Remote<'a> {
    pub(super) fn new(shared: &Arc<Shared<'a>>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// Wants the flow to end: the handler may end it in its own way, else it is
    /// dropped as soon as no step runs, and its compensations run.
    pub fn cancel(&self) {
        let Some(shared) = self.0.upgrade() else {
            return;
        };
        let mut state = shared.lock();
        state.cancelled = true;
        let watchers = std::mem::take(&mut state.cancel_watchers);
        drop(state);
        for watcher in watchers.into_values() {
            watcher.wake();
        }
        shared.root.wake_by_ref();
    }

    /// Wants the flow to go on elsewhere: at the next checkpoint, if it has got
    /// any further by then.
    pub fn shed(&self) {
        if let Some(shared) = self.0.upgrade() {
            shared.lock().shed = true;
            shared.root.wake_by_ref();
        }
    }
}

impl fmt::Debug for Remote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remote")
    }
}
