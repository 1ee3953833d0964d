//! A future's hold on its slot.

use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::Bytes;
use sterna_types::UnixMillis;

use super::schedule::Permission;
use super::waiter::{Changed, WaiterId};
use super::{Shared, StepWaker};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::journal::{Entry, Kind};
use crate::key::Key;

/// A future's hold on its slot, from its construction to its end or its drop.
pub(crate) struct WaiterHandle<'a> {
    shared: Arc<Shared<'a>>,
    /// None if the run was already over when the future was made.
    id: Option<WaiterId>,
}

impl<'a> WaiterHandle<'a> {
    pub(crate) fn new(
        shared: &Arc<Shared<'a>>,
        scope: Option<&Key>,
        name: &str,
        wants: Kind,
        at: &'static Location<'static>,
    ) -> Self {
        let mut state = shared.lock();
        let mut id = None;
        if state.is_usable() {
            match state.construct(scope, name, wants, at) {
                Ok(waiter) => id = Some(waiter),
                Err(error) => state.fail(error),
            }
        }
        drop(state);
        Self {
            shared: shared.clone(),
            id,
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared<'a>> {
        &self.shared
    }

    /// The name that was taken at construction.
    pub(crate) fn key(&self) -> Key {
        let state = self.shared.lock();
        self.id
            .and_then(|id| state.waiters.get(id))
            .map_or_else(|| Key::new(""), |waiter| waiter.key.clone())
    }

    /// The name under which the next entry would be recorded.
    pub(crate) fn recording_key(&self) -> Key {
        let state = self.shared.lock();
        self.id
            .and_then(|id| state.waiters.get(id))
            .map_or_else(|| Key::new(""), |waiter| waiter.search.key.clone())
    }

    /// Only an entry recorded for this question or input counts.
    pub(crate) fn pin(&self, fingerprint: Fingerprint, changed: Changed) {
        self.adjust(|waiter| {
            waiter.pin = Some(fingerprint);
            waiter.changed = changed;
        });
    }

    /// An older build may have recorded it under the name `old`.
    pub(crate) fn alias(&self, old: &str) {
        self.adjust(|waiter| {
            let key = waiter.key.as_str();
            let start = key.rfind('/').map_or(0, |at| at + 1);
            let ordinal = key[start..].find('#').map_or("", |at| &key[start + at..]);
            let mut alias = key[..start].to_owned();
            crate::key::write_key(&mut alias, None, old);
            alias.push_str(ordinal);
            waiter.alias = Some(Key::new(&alias));
        });
    }

    pub(crate) fn lasts(&self, duration: Duration) {
        self.adjust(|waiter| waiter.lasts = Some(duration));
    }

    fn adjust(&self, change: impl FnOnce(&mut super::waiter::Waiter)) {
        let mut state = self.shared.lock();
        if let Some(waiter) = self.id.and_then(|id| state.waiters.get_mut(id)) {
            change(waiter);
        }
    }

    /// Polls the future; returns the action it may take.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Permission {
        let mut state = self.shared.lock();
        let Some(id) = self.id.filter(|_| state.is_usable()) else {
            return Permission::Wait;
        };
        if let Some(step) = state.inside.clone() {
            let used = state
                .waiters
                .get(id)
                .map_or_else(|| step.clone(), |waiter| waiter.key.clone());
            state.fail(Error::CxInsideStep { step, used });
            return Permission::Wait;
        }
        state.permission(id, &self.shared.root, cx.waker())
    }

    /// Wakes the future on every event of the engine that concerns it.
    pub(crate) fn park(&self, cx: &Context<'_>) {
        if let Some(id) = self.id {
            self.shared.lock().park(id, &self.shared.root, cx.waker());
        }
    }

    /// Wakes the future at `at`.
    pub(crate) fn wake_at(&self, at: UnixMillis) {
        if let Some(id) = self.id {
            self.shared.lock().wake_at(at, id);
        }
    }

    pub(crate) fn now(&self) -> UnixMillis {
        self.shared.lock().now
    }

    /// Puts the question to the client.
    pub(crate) fn open(&self, request: Bytes, cx: &Context<'_>) {
        if let Some(id) = self.id {
            let mut state = self.shared.lock();
            state.open(id, request, self.shared.build);
            state.park(id, &self.shared.root, cx.waker());
        }
    }

    /// Records how it ended; the future is told when its turn comes.
    pub(crate) fn record(&self, entry: Entry, cx: &Context<'_>) {
        if let Some(id) = self.id {
            let mut state = self.shared.lock();
            state.record(Some(id), entry);
            state.park(id, &self.shared.root, cx.waker());
        }
    }

    /// The answer does not fit the question: ask again.
    pub(crate) fn reject(&self, reason: &str) {
        if let Some(id) = self.id {
            self.shared.lock().reject(id, reason);
        }
    }

    /// The result cannot be used: run again.
    pub(crate) fn run_again(&self) {
        if let Some(id) = self.id {
            self.shared.lock().run_again(id);
        }
    }

    /// The handler takes `entry`: effects that begin from here on depend on it.
    pub(crate) fn note_given(&self, entry: &Entry) {
        // Only effects that need a ledger ask for it.
        if self.shared.engine.ledger.is_some() {
            self.shared.lock().given.note(entry);
        }
    }

    /// The answers inside the memo that this future is, if they are noted.
    pub(crate) fn given_inside(&self) -> Option<Fingerprint> {
        let engine = &self.shared.engine;
        engine.ledger.as_ref()?;
        let memo = self.key();
        let given = self.shared.lock().given.clone();
        Some(given.inside(&memo, &*engine.digest))
    }

    /// Stops the run.
    pub(crate) fn fail(&self, error: Error) {
        self.shared.lock().fail(error);
    }

    /// The future has ended; its name is free again.
    pub(crate) fn finish(&mut self) {
        if let Some(id) = self.id.take() {
            self.shared.lock().release(id);
        }
    }

    /// Runs `poll` as the body of the step `key`, in which the context must
    /// not be used.
    pub(crate) fn inside<R>(&self, key: &Key, poll: impl FnOnce() -> R) -> R {
        self.shared.lock().inside = Some(key.clone());
        let guard = CompensationGuard {
            shared: &self.shared,
        };
        let result = poll();
        drop(guard);
        result
    }

    /// A waker for the body of a step.
    pub(crate) fn relay(&self, waker: &Waker) -> Arc<StepWaker> {
        StepWaker::new(&self.shared.root, waker)
    }
}

impl Drop for WaiterHandle<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

struct CompensationGuard<'s, 'a> {
    shared: &'s Shared<'a>,
}

impl Drop for CompensationGuard<'_, '_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        let step = state.inside.take();
        if std::thread::panicking() {
            state.panicked_inside = step;
        }
    }
}
