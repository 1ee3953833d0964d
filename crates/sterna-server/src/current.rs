//! Current configuration of the server, fixed or replaceable at run time.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::core::Core;

/// Source of the [`Core`] that a request is served by. Cheap to clone.
#[derive(Clone)]
pub(crate) enum CurrentCore {
    Replaceable(Arc<ReplaceableCore>),
    Fixed(Arc<Core>),
}

impl CurrentCore {
    /// Returns the current core. A request keeps the one it starts with.
    pub(crate) fn core(&self) -> Arc<Core> {
        match self {
            Self::Replaceable(changing) => changing.core(),
            Self::Fixed(core) => Arc::clone(core),
        }
    }
}

/// Core that can be replaced while the server runs.
pub(crate) struct ReplaceableCore {
    /// Written for as long as a pointer takes, so that readers never wait.
    core: RwLock<Arc<Core>>,
    /// Held while the core is replaced, by one caller at a time.
    turn: Mutex<()>,
}

impl ReplaceableCore {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core: RwLock::new(core),
            turn: Mutex::default(),
        }
    }

    fn core(&self) -> Arc<Core> {
        Arc::clone(&self.core.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the core by the one that `next` makes of it, then calls `after`
    /// with both. No other replacement happens in between.
    pub(crate) fn replace<E>(
        &self,
        next: impl FnOnce(&Core) -> Result<Core, E>,
        after: impl FnOnce(&Core, &Core),
    ) -> Result<(), E> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.core();
        let core = Arc::new(next(&before)?);
        *self.core.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&core);
        after(&before, &core);
        Ok(())
    }
}
