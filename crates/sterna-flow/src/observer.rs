//! Observer of the bodies of steps.

use std::fmt;
use std::sync::Arc;

use crate::key::Key;

/// Sees the body of every step, effect and `once` begin and end: what really
/// runs, and not what is taken from a journal. For tests and for traces.
///
/// Called while the handler waits, so it must return at once.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use sterna_flow::{Observer, StepEvent, Settings};
///
/// let began = Arc::new(AtomicUsize::new(0));
/// let counted = Arc::clone(&began);
/// let mut settings = Settings::default();
/// settings.observer = Some(Observer::new(move |_key, seen| {
///     if seen == StepEvent::Began {
///         counted.fetch_add(1, Ordering::Relaxed);
///     }
/// }));
/// ```
#[derive(Clone)]
pub struct Observer(Arc<See>);

type See = dyn Fn(&Key, StepEvent) + Send + Sync;

impl Observer {
    /// Has `see` called with the name of what begins or ends.
    pub fn new(see: impl Fn(&Key, StepEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    pub(crate) fn see(&self, key: &Key, seen: StepEvent) {
        (self.0)(key, seen);
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer(..)")
    }
}

/// Event of a body, as an [`Observer`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StepEvent {
    /// It begins; once for every try.
    Began,
    /// It has a result. One that is cut off never gets there.
    Ended,
}
