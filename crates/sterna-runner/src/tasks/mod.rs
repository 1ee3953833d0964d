//! Flows that outlive their request: their journal is in a store.
//!
//! The workers of any instance claim a task, run its handler and commit every
//! step before the handler sees it. A task that waits is passivated, so that it
//! costs nothing.

mod activity;
mod config;
mod delivery;
mod health;
mod host;
mod lease;
mod pool;
mod questions;
mod shared;
mod tally;
mod watch;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sterna_flow::{Asked, DecodeError, Entry, Fingerprint, Journal, Limits};
use sterna_store::{Claimed, Name, Phase, Store, TaskId};
use tokio::sync::Notify;
use tokio::time::Instant;

use activity::Activity;
pub use config::TaskConfig;
pub use health::StoreHealth;
pub use host::{StartedTask, TaskCatalog, TaskHost, TaskProtocol};
pub use pool::{jitter, work, work_for};
pub use shared::TaskShared;
pub use tally::WorkDone;
pub use watch::TaskWatch;
use watch::WatchTable;
pub use worker::WorkerExit;

/// Tasks of a server in their store, as all parts of one instance share them.
pub struct TaskQueue {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) config: TaskConfig,
    pub(crate) health: StoreHealth,
    /// Notified when there is a new task for a worker of this instance.
    created: Notify,
    watches: WatchTable,
    activity: Arc<Activity>,
    /// Beginning of the times at which leases are renewed.
    began_at: Instant,
}

impl TaskQueue {
    /// Returns the queue of the tasks in `store`.
    pub fn new(store: Arc<dyn Store>, config: TaskConfig) -> Self {
        Self {
            store,
            config,
            health: StoreHealth::default(),
            created: Notify::new(),
            watches: WatchTable::default(),
            activity: Arc::default(),
            began_at: Instant::now(),
        }
    }

    /// Returns the moment at which this instance last worked on a task: the
    /// present while it does, `None` if it never did.
    pub fn last_work(&self) -> Option<Instant> {
        self.activity.last()
    }

    /// Returns what is known about the store's errors.
    pub fn health(&self) -> &StoreHealth {
        &self.health
    }

    /// Wakes the workers of this instance: there is something to claim.
    pub fn notify_workers(&self) {
        self.created.notify_one();
    }

    /// Notes that this instance has changed `task`.
    pub fn notify_changed(&self, task: TaskId) {
        self.watches.notify(task);
    }

    /// Returns the time at which a lease of `length` that was asked for at `since` is
    /// renewed: after a third of it or a little less, so that the leases of an
    /// instance are renewed together and the store can do it in one transaction.
    fn renewal(&self, since: Instant, length: Duration) -> Instant {
        let third = since + length / 3;
        let step = (length / 12).as_nanos().max(1);
        let beyond = third.duration_since(self.began_at).as_nanos() % step;
        third - Duration::from_nanos(u64::try_from(beyond).unwrap_or_default())
    }

    /// Returns a watch of `tasks`, for a request that waits for them.
    pub fn watch(self: &Arc<Self>, tasks: impl IntoIterator<Item = TaskId>) -> TaskWatch {
        TaskWatch::new(self, tasks)
    }
}

impl fmt::Debug for TaskQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskQueue")
            .field("config", &self.config)
            .field("health", &self.health)
            .finish_non_exhaustive()
    }
}

/// Reason for which the row of a task cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a worker acts on each of them")]
pub enum Unreadable {
    /// No build could read it.
    Damaged,
    /// A build wrote it that knows more than this one.
    Newer,
}

/// Returns the journal of a task that was claimed.
///
/// # Errors
///
/// It cannot be read.
pub fn read_journal(claimed: &Claimed, limits: &Limits) -> Result<Journal, Unreadable> {
    let entries = claimed.journal.iter();
    let entries = entries.map(|entry| Entry::from_bytes(entry.value.clone(), limits));
    let entries: Vec<Entry> = entries.collect::<Result<_, _>>().map_err(unreadable)?;
    let asked = claimed.asked.iter();
    let asked = asked
        .filter(|asked| matches!(asked.phase, Phase::Open | Phase::Answered))
        .map(|asked| Asked::new(asked.key.as_str(), Fingerprint::new(asked.fingerprint)));
    Journal::from_entries(entries, asked).map_err(unreadable)
}

fn unreadable(error: DecodeError) -> Unreadable {
    match error {
        DecodeError::Flags(_) | DecodeError::Kind(_) | DecodeError::Version(_) => Unreadable::Newer,
        _ => Unreadable::Damaged,
    }
}

/// Returns an entry of a journal as it is stored; `None` if its key cannot be a
/// key of a store.
pub fn stored_entry(entry: &Entry) -> Option<sterna_store::Entry> {
    let key = Name::new(entry.key().as_str()).ok()?;
    Some(sterna_store::Entry::new(key, entry.to_bytes()))
}
