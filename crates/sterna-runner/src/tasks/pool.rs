//! Looks for work and hands it to workers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sterna_store::{Backoff, Claim, Name, Sweep, Targets, TaskId, Wakeup};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::TaskQueue;
use super::host::{TaskCatalog, TaskHost};
use super::worker::TaskWorker;
use crate::effects::random_bytes;

/// Works on the tasks of `queue` under the name `worker` until the host shuts
/// down, then lets go of them.
///
/// # Cancel safety
///
/// Dropping the future drops the workers. Their tasks are taken over when their
/// leases end.
pub async fn work<H: TaskHost>(host: H, queue: Arc<TaskQueue>, worker: Name) {
    let claim = Claim::new(worker, queue.config.lease);
    let pool = WorkerPool {
        host: Arc::new(host),
        queue,
        claim,
        jobs: JoinSet::new(),
        bells: HashMap::new(),
    };
    pool.run().await;
}

/// Workers of one instance.
struct WorkerPool<H> {
    host: Arc<H>,
    queue: Arc<TaskQueue>,
    claim: Claim,
    jobs: JoinSet<TaskId>,
    /// Notified when a task that runs here was answered or cancelled.
    bells: HashMap<TaskId, Arc<Notify>>,
}

impl<H: TaskHost> WorkerPool<H> {
    async fn run(mut self) {
        let (host, queue) = (Arc::clone(&self.host), Arc::clone(&self.queue));
        let mut shutdown = host.shutdown();
        let mut wakeups = queue.store.wakeups();
        let longest = queue.config.longest_poll;
        let mut backoff = Backoff::new(SHORTEST_POLL.min(longest), longest);
        let mut sweep_at = Instant::now();
        while !host.is_shutting_down() {
            let taken = self.take_work().await;
            if taken > 0 {
                backoff.reset();
            }
            if taken == MOST_AT_ONCE {
                // There may be more of it, and room: no reason to wait.
                continue;
            }
            tokio::select! {
                () = &mut shutdown => break,
                Some(done) = self.jobs.join_next() => self.done(done),
                () = queue.created.notified() => backoff.reset(),
                wakeup = wakeups.next() => {
                    self.ring(wakeup);
                    backoff.reset();
                }
                () = tokio::time::sleep(backoff.pause(jitter())) => {}
                () = tokio::time::sleep_until(sweep_at) => {
                    self.sweep().await;
                    // Jitter, so that the instances of a fleet sweep at different times.
                    let pause = queue.config.sweep;
                    sweep_at = Instant::now() + Backoff::new(pause, pause).pause(jitter());
                }
            }
        }
        while let Some(done) = self.jobs.join_next().await {
            self.done(done);
        }
    }

    /// Claims as many tasks as there is room for; returns how many it were.
    async fn take_work(&mut self) -> u32 {
        let room = self.queue.config.workers.saturating_sub(self.jobs.len());
        let Ok(limit @ 1..) = u32::try_from(room) else {
            return 0;
        };
        let catalog = self.host.catalog();
        self.claim.targets = Targets::Only(catalog.targets());
        let since = Instant::now();
        self.claim.limit = limit.min(MOST_AT_ONCE);
        // A clock that was set must not make it take over a task that runs here.
        self.claim.held = self.bells.keys().copied().collect();
        let claimed = match self.queue.store.claim(self.claim.clone()).await {
            Ok(claimed) => {
                self.queue.health.claimed();
                claimed
            }
            Err(error) => {
                self.queue.health.cannot_claim(&error);
                let cause: &dyn std::error::Error = &error;
                let code = error.code().unwrap_or("MR0404");
                tracing::warn!(target: "sterna::tasks", code, error = cause, "no work can be claimed");
                return 0;
            }
        };
        let mut taken = 0;
        for claimed in claimed {
            taken += 1;
            self.claim.after = Some(claimed.owner);
            let (task, attempt) = (claimed.lease.task, claimed.attempt);
            let bell = Arc::new(Notify::new());
            self.bells.insert(task, Arc::clone(&bell));
            let worker = TaskWorker {
                host: Arc::clone(&self.host),
                catalog: Arc::clone(&catalog),
                queue: Arc::clone(&self.queue),
                claimed,
                since,
                bell,
            };
            let work = catalog.enclose(task, attempt, Box::pin(worker.work()));
            self.jobs.spawn(async move {
                work.await;
                task
            });
        }
        taken
    }

    fn ring(&self, wakeup: Wakeup) {
        match wakeup {
            Wakeup::Task(task) => {
                if let Some(bell) = self.bells.get(&task) {
                    bell.notify_one();
                }
            }
            Wakeup::Blob(_) => {}
            _ => self.bells.values().for_each(|bell| bell.notify_one()),
        }
    }

    fn done(&mut self, done: Result<TaskId, tokio::task::JoinError>) {
        match done {
            Ok(task) => {
                self.bells.remove(&task);
            }
            // The panic hook has written the message; the lease will run out.
            Err(error) => {
                tracing::error!(target: "sterna::tasks", %error, "a worker broke down");
                // It does not say which task it had; its worker held the bell, too.
                self.bells.retain(|_, bell| Arc::strong_count(bell) > 1);
            }
        }
    }

    /// Fails expired tasks, and deletes what is kept no longer.
    async fn sweep(&self) {
        let store = &self.queue.store;
        let swept = async {
            store.sweep_tasks(Sweep::new(self.host.expired())).await?;
            store.sweep_ledger(MOST_SWEPT).await?;
            store.sweep_blobs(MOST_SWEPT).await
        };
        if let Err(error) = swept.await {
            let cause: &dyn std::error::Error = &error;
            tracing::warn!(target: "sterna::tasks", error = cause, "what has had its time cannot be swept");
        }
        self.queue.notify_changed();
    }
}

/// Returns a number that differs from one instance to the next, for pauses.
pub fn jitter() -> u64 {
    let bytes = random_bytes().unwrap_or_default();
    bytes.first_chunk().copied().map_or(0, u64::from_be_bytes)
}

/// Shortest pause between two looks for work.
const SHORTEST_POLL: Duration = Duration::from_millis(50);

/// Most tasks of one claim, so that instances share the work.
const MOST_AT_ONCE: u32 = 8;

const MOST_SWEPT: u32 = 1000;
