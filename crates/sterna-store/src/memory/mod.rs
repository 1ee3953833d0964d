//! A store in memory: for tests, and for a single process whose tasks may die
//! with it.

mod ledger;
mod row;
mod state;
mod survey;
mod tasks;
mod usage;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::{
    Answer, Answered, BlobId, Blobs, BoxFuture, Claim, Claimant, Claimed, Commit, Effect,
    EffectClaim, Error, Lease, Ledger, Listing, NewTask, OnceClaim, Outcome, Owner, Page,
    Passivated, Passivation, Round, RoundClaim, RoundEntry, Status, Summary, Sweep, Swept, Task,
    TaskId, TaskUpdate, Tasks, UnixMillis, WakeupSender, Wakeups,
};
use state::State;
pub use usage::MemoryLimits;

/// A store that forgets everything with its process.
///
/// ```
/// use sterna_store::MemoryStore;
///
/// let store = MemoryStore::new();
/// # let _ = store;
/// ```
///
/// A test hands in a clock that it can move:
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use std::sync::Arc;
/// use std::time::Duration;
/// use sterna_store::{BlobId, Blobs, MemoryLimits, MemoryStore, UnixMillis};
///
/// let time = Arc::new(AtomicI64::new(0));
/// let clock = Arc::clone(&time);
/// let now = move || UnixMillis::new(clock.load(Ordering::Relaxed));
/// let store = MemoryStore::with_clock(MemoryLimits::default(), now);
///
/// let id = BlobId::from_bytes([1; 16]);
/// store.put_blob(id, "plan".into(), Duration::from_secs(1)).await?;
/// assert_eq!(store.blob(id).await?.as_deref(), Some(&b"plan"[..]));
/// time.store(1000, Ordering::Relaxed);
/// assert_eq!(store.blob(id).await?, None);
/// # Ok(())
/// # }
/// ```
pub struct MemoryStore {
    state: Mutex<State>,
    clock: Box<dyn Fn() -> UnixMillis + Send + Sync>,
    wakeups: WakeupSender,
}

impl MemoryStore {
    /// An empty store with the default limits, on the clock of this machine.
    pub fn new() -> Self {
        Self::with_limits(MemoryLimits::default())
    }

    /// An empty store that holds no more than `limits`, on the clock of this
    /// machine.
    pub fn with_limits(limits: MemoryLimits) -> Self {
        Self::with_clock(limits, machine_clock())
    }

    /// An empty store that holds no more than `limits` and reads the time from
    /// `clock`.
    pub fn with_clock(
        limits: MemoryLimits,
        clock: impl Fn() -> UnixMillis + Send + Sync + 'static,
    ) -> Self {
        Self {
            state: Mutex::new(State::new(limits)),
            clock: Box::new(clock),
            wakeups: WakeupSender::default(),
        }
    }

    /// Runs `work` on the state, at one moment.
    fn run<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&mut State, UnixMillis) -> T + Send + 'a,
    ) -> BoxFuture<'a, T> {
        Box::pin(async move {
            let now = (self.clock)();
            work(&mut self.lock(), now)
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

/// The time of this machine, which never goes back: a lease does not end early
/// or late because someone sets the clock.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn machine_clock() -> impl Fn() -> UnixMillis + Send + Sync {
    let (begun, since) = (Instant::now(), SystemTime::now());
    // A machine whose clock is before 1970 counts from there.
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
    move || UnixMillis::default() + (since + begun.elapsed())
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl Tasks for MemoryStore {
    fn create(&self, task: NewTask) -> BoxFuture<'_, Result<Summary, Error>> {
        self.run(|state, now| state.create(task, now))
    }

    fn read(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>> {
        self.run(move |state, _| Ok(state.read(caller, task)))
    }

    fn list(&self, caller: Owner, page: Page) -> BoxFuture<'_, Result<Listing, Error>> {
        self.run(move |state, _| Ok(state.list(caller, page)))
    }

    fn answer(
        &self,
        caller: Owner,
        task: TaskId,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<Option<Answered>, Error>> {
        self.run(move |state, now| {
            let answered = state.answer(caller, task, &answers, now)?;
            if answered.is_some_and(|answered| answered.accepted > 0) {
                self.wakeups.send(task);
            }
            Ok(answered)
        })
    }

    fn cancel(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Status>, Error>> {
        self.run(move |state, now| {
            let status = state.cancel(caller, task, now);
            if status == Some(Status::Cancelled) {
                self.wakeups.send(task);
            }
            Ok(status)
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>> {
        self.run(move |state, now| Ok(state.claim(&claim, now)))
    }

    fn renew(&self, lease: Lease, length: Duration) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        self.run(move |state, now| state.renew(lease, length, now))
    }

    fn append(&self, lease: Lease, commit: Commit) -> BoxFuture<'_, Result<TaskUpdate, Error>> {
        self.run(move |state, now| state.append(lease, &commit, now))
    }

    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Passivation,
    ) -> BoxFuture<'_, Result<Passivated, Error>> {
        self.run(move |state, now| state.passivate(lease, &commit, rest, now))
    }

    fn finish(&self, lease: Lease, outcome: Outcome) -> BoxFuture<'_, Result<Status, Error>> {
        self.run(move |state, now| state.finish(lease, &outcome, now))
    }

    fn sweep_tasks(&self, sweep: Sweep) -> BoxFuture<'_, Result<Swept, Error>> {
        self.run(move |state, now| Ok(state.sweep_tasks(&sweep, now)))
    }

    fn wakeups(&self) -> Wakeups {
        self.wakeups.listen()
    }
}

impl Ledger for MemoryStore {
    fn claim_once(
        &self,
        effect: Effect,
        claim: EffectClaim,
    ) -> BoxFuture<'_, Result<OnceClaim, Error>> {
        self.run(move |state, now| state.claim_once(effect, claim, now))
    }

    fn settle_once(
        &self,
        effect: Effect,
        claimant: Claimant,
        result: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.run(move |state, now| state.settle_once(&effect, claimant, result, now))
    }

    fn enter_round(
        &self,
        round: Round,
        entry: RoundEntry,
    ) -> BoxFuture<'_, Result<RoundClaim, Error>> {
        self.run(move |state, now| state.enter_round(round, &entry, now))
    }

    fn complete_round(
        &self,
        round: Round,
        claimant: Claimant,
        response: Bytes,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.run(move |state, now| state.complete_round(round, claimant, response, now))
    }

    fn sweep_ledger(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.run(move |state, now| Ok(state.sweep_ledger(limit, now)))
    }
}

impl Blobs for MemoryStore {
    fn put_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.run(move |state, now| state.put_blob(id, value, ttl, now))
    }

    fn post_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            self.put_blob(id, value, ttl).await?;
            self.wakeups.send_for_blob(id);
            Ok(())
        })
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.run(move |state, now| Ok(state.blob(id, now)))
    }

    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.run(move |state, now| Ok(state.sweep_blobs(limit, now)))
    }
}
