//! Requests that wait until a task has changed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sterna_store::TaskId;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::TaskQueue;

/// The watches of an instance, by task.
#[derive(Default)]
pub(super) struct WatchTable(Mutex<HashMap<TaskId, Vec<Arc<watch::Sender<()>>>>>);

impl WatchTable {
    fn add(&self, task: TaskId, sender: &Arc<watch::Sender<()>>) {
        let mut watches = self.lock();
        watches.entry(task).or_default().push(Arc::clone(sender));
    }

    fn remove(&self, task: TaskId, sender: &Arc<watch::Sender<()>>) {
        let mut watches = self.lock();
        if let Some(senders) = watches.get_mut(&task) {
            senders.retain(|other| !Arc::ptr_eq(other, sender));
            if senders.is_empty() {
                watches.remove(&task);
            }
        }
    }

    pub(super) fn notify(&self, task: TaskId) {
        let watches = self.lock();
        let senders = watches.get(&task).into_iter().flatten();
        senders.for_each(|sender| sender.send_replace(()));
    }

    pub(super) fn notify_all(&self) {
        let watches = self.lock();
        let senders = watches.values().flatten();
        senders.for_each(|sender| sender.send_replace(()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Vec<Arc<watch::Sender<()>>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A watch of some tasks, as long as a request waits for them.
///
/// Only the requests that wait for a task look at it when it changes: if each
/// change woke them all, a hundred of them would read a hundred tasks a hundred
/// times.
pub struct TaskWatch {
    queue: Arc<TaskQueue>,
    tasks: Vec<TaskId>,
    sender: Arc<watch::Sender<()>>,
    changed: watch::Receiver<()>,
    /// Earliest time at which the next change is reported.
    earliest: Instant,
}

impl TaskWatch {
    pub(super) fn new(queue: &Arc<TaskQueue>, tasks: impl IntoIterator<Item = TaskId>) -> Self {
        let (sender, changed) = watch::channel(());
        let sender = Arc::new(sender);
        let tasks: Vec<_> = tasks.into_iter().collect();
        for task in &tasks {
            queue.watches.add(*task, &sender);
        }
        Self {
            queue: Arc::clone(queue),
            tasks,
            sender,
            changed,
            earliest: Instant::now(),
        }
    }

    /// Waits until this instance has changed a watched task since the last call, at
    /// most until `deadline`. Other instances change tasks too, so `deadline` is the
    /// time at which the caller looks anyway.
    ///
    /// The first change is reported at once, and a change soon after another one a
    /// moment later, so that a client that changes a task all the time does not have
    /// it read as often by each of its waiting requests.
    ///
    /// # Cancel safety
    ///
    /// A call that is dropped may lose a change.
    pub async fn changed(&mut self, deadline: Instant) {
        tokio::select! {
            () = sleep_until(deadline) => {}
            // The sender is in this watch.
            _ = self.changed.changed() => {
                sleep_until(self.earliest.min(deadline)).await;
                self.earliest = Instant::now() + SHORTEST_PAUSE;
            }
        }
        // The caller looks after this, so it sees what has changed so far.
        self.changed.mark_unchanged();
    }
}

impl Drop for TaskWatch {
    fn drop(&mut self) {
        for task in &self.tasks {
            self.queue.watches.remove(*task, &self.sender);
        }
    }
}

impl fmt::Debug for TaskWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskWatch")
            .field("tasks", &self.tasks)
            .finish_non_exhaustive()
    }
}

/// Shortest time between two changes that are reported.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
