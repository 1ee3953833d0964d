//! State shared by a driver and the handler it drives.

mod handle;
mod names;
mod record;
mod root;
mod run_journal;
mod schedule;
mod seek;
mod state;
#[cfg(test)]
mod tests;
mod timers;
pub(crate) mod waiter;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use handle::WaiterHandle;
pub(crate) use root::{CountedWaker, Root, StepWaker};
pub(crate) use schedule::{Delivery, Permission};
pub(crate) use state::{Compensating, State, Undo};
pub use waiter::Changed;
pub(crate) use waiter::WaiterId;

use sterna_types::FlowId;

use crate::backends::{JournalSink, Listener};
use crate::engine::Engine;
use crate::error::Error;
use crate::idempotency::IdempotencyKey;
use crate::key::Key;
use crate::run::{BuildMatch, ExecutionMode, Run};

/// State shared by a driver and the handler it drives.
pub(crate) struct Shared<'a> {
    pub(crate) engine: Arc<Engine>,
    pub(crate) flow: FlowId,
    pub(crate) mode: ExecutionMode,
    pub(crate) round: u32,
    pub(crate) build: BuildMatch,
    pub(crate) principal: Option<Arc<str>>,
    pub(crate) listener: Option<Arc<dyn Listener>>,
    pub(crate) journaling: Option<Arc<dyn JournalSink>>,
    pub(crate) root: Arc<Root>,
    state: Mutex<State<'a>>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(run: Run) -> Arc<Self> {
        let accepted = run.engine.accept(run.journal);
        let shared = Arc::new(Self {
            engine: run.engine,
            flow: run.flow,
            mode: run.mode,
            round: run.round,
            build: run.build,
            principal: run.principal,
            listener: run.listener,
            journaling: run.journaling,
            root: Root::new(),
            state: Mutex::default(),
        });
        // Filled where it stays: it is large, and each move of it is a copy.
        let mut state = shared.lock();
        state.limits = shared.engine.settings.limits.clone();
        state.write_ahead = shared.journaling.is_some();
        match accepted {
            Ok(journal) => state.begin(journal),
            Err(found) => state.fail(Error::StateVersion {
                found,
                expected: shared.engine.settings.version,
            }),
        }
        drop(state);
        shared
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<'a>> {
        // Only the engine's code runs under the lock, so a panic of a handler cannot have
        // left it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn idempotency_key(&self, key: &Key) -> IdempotencyKey {
        IdempotencyKey::derive(&*self.engine.digest, &self.flow, key)
    }

    /// Number of wakers of the handler that code outside the engine holds.
    pub(crate) fn foreign(&self) -> usize {
        self.root.foreign()
    }
}
