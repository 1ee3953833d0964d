//! What a driver shares with the handler it drives.

mod leaf;
#[cfg(test)]
mod mutants;
mod names;
mod record;
mod root;
mod schedule;
mod seek;
mod state;
mod tape;
#[cfg(test)]
mod tests;
mod ticket;
mod timers;
mod undo;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use leaf::Changed;
#[cfg(test)]
pub(crate) use leaf::Leaf;
pub(crate) use leaf::LeafId;
pub(crate) use root::{Parked, Relay, Root};
pub(crate) use schedule::{Next, Turn};
pub(crate) use state::State;
pub(crate) use ticket::Ticket;
pub(crate) use undo::{Compensating, Undo};

use crate::engine::Engine;
use crate::error::Error;
use crate::flow_id::{FlowId, IdempotencyKey};
use crate::key::Key;
use crate::plugs::{Journaling, Listener};
use crate::run::{Build, Run, Way};

/// What a driver shares with the handler it drives.
pub(crate) struct Shared<'a> {
    pub(crate) engine: Arc<Engine>,
    pub(crate) flow: FlowId,
    pub(crate) way: Way,
    pub(crate) round: u32,
    pub(crate) build: Build,
    pub(crate) principal: Option<Arc<str>>,
    pub(crate) listener: Option<Arc<dyn Listener>>,
    pub(crate) journaling: Option<Arc<dyn Journaling>>,
    pub(crate) root: Arc<Root>,
    state: Mutex<State<'a>>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(run: Run) -> Arc<Self> {
        let mut state = State {
            limits: run.engine.settings.limits.clone(),
            write_ahead: run.journaling.is_some(),
            ..State::default()
        };
        match run.engine.accept(run.journal) {
            Ok(journal) => state.begin(journal),
            Err(found) => state.fail(Error::StateVersion {
                found,
                expected: run.engine.settings.version,
            }),
        }
        Arc::new(Self {
            engine: run.engine,
            flow: run.flow,
            way: run.way,
            round: run.round,
            build: run.build,
            principal: run.principal,
            listener: run.listener,
            journaling: run.journaling,
            root: Root::new(),
            state: Mutex::new(state),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<'a>> {
        // Nobody else's code runs under the lock, so a panic cannot have left it
        // half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn idempotency_key(&self, key: &Key) -> IdempotencyKey {
        IdempotencyKey::derive(&*self.engine.digest, &self.flow, key)
    }

    /// How many wakers of the handler are held by something that is not ours.
    pub(crate) fn foreign(&self) -> usize {
        self.root.foreign()
    }
}
