//! The server at the moment: the same for ever, or one after the other.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::core::Core;

/// Where every request gets the server that it is served by. Cheap to clone.
#[derive(Clone)]
pub(crate) enum Current {
    Changing(Arc<Changing>),
    Fixed(Arc<Core>),
}

impl Current {
    /// The server as it is now. Who asks once sees one server to the end.
    pub(crate) fn core(&self) -> Arc<Core> {
        match self {
            Self::Changing(changing) => changing.core(),
            Self::Fixed(core) => Arc::clone(core),
        }
    }
}

/// A server that changes while it runs.
pub(crate) struct Changing {
    /// Written for as long as a pointer takes, so that readers never wait.
    core: RwLock<Arc<Core>>,
    /// Held by who changes it, one at a time.
    turn: Mutex<()>,
}

impl Changing {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core: RwLock::new(core),
            turn: Mutex::default(),
        }
    }

    fn core(&self) -> Arc<Core> {
        Arc::clone(&self.core.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts what `next` makes of the server into its place, and then tells
    /// `after` of both: nobody else changes it in between.
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
