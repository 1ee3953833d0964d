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
use super::tally::{Tally, WorkDone};
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
    let mut pool = WorkerPool::new(host, queue, worker);
    pool.claim_and_run(WhenIdle::Wait).await;
    pool.join_all().await;
}

/// Works on the tasks of `queue` until the host shuts down or there is nothing to
/// do, then lets go of them, all within `slice`. The host shuts down `drain`
/// before the end of `slice`.
///
/// A worker that blocks its thread, or waits for a store that does not answer, is
/// given up a moment after that.
///
/// # Cancel safety
///
/// As [`work`].
pub async fn work_for<H: TaskHost>(
    host: H,
    queue: Arc<TaskQueue>,
    worker: Name,
    slice: Duration,
    drain: Duration,
) -> WorkDone {
    let end = Instant::now() + slice + GRACE;
    let mut pool = WorkerPool::new(host, queue, worker);
    pool.drain = drain;
    let working = async {
        pool.claim_and_run(WhenIdle::Stop).await;
        pool.join_all().await;
    };
    // Its workers are dropped with the pool, those that have not ended.
    let _ = tokio::time::timeout_at(end, working).await;
    let mut done = pool.tally.read();
    done.left += u32::try_from(pool.jobs.len()).unwrap_or(u32::MAX);
    done
}

/// Reaction of a pool that finds nothing to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhenIdle {
    Stop,
    Wait,
}

/// Workers of one instance.
struct WorkerPool<H> {
    host: Arc<H>,
    queue: Arc<TaskQueue>,
    claim: Claim,
    jobs: JoinSet<TaskId>,
    bells: HashMap<TaskId, Bell>,
    /// `true` if a claim may find something: not after one that found less than it
    /// had room for, until there is a sign of new work.
    may_find_work: bool,
    drain: Duration,
    tally: Arc<Tally>,
}

/// The way to the worker of a task that runs here.
struct Bell {
    /// Notified when the task was answered or cancelled.
    notify: Arc<Notify>,
    /// `true` if it was notified. The worker may have let go of the task before it
    /// could hear that, and then the task has to be claimed again.
    rang: bool,
}

impl<H: TaskHost> WorkerPool<H> {
    fn new(host: H, queue: Arc<TaskQueue>, worker: Name) -> Self {
        Self {
            host: Arc::new(host),
            claim: Claim::new(worker, queue.config.lease),
            drain: queue.config.drain,
            queue,
            jobs: JoinSet::new(),
            bells: HashMap::new(),
            may_find_work: true,
            tally: Arc::default(),
        }
    }

    /// Starts workers until the host shuts down, or until there is nothing to do.
    async fn claim_and_run(&mut self, when_idle: WhenIdle) {
        let (host, queue) = (Arc::clone(&self.host), Arc::clone(&self.queue));
        let mut shutdown = host.shutdown();
        let mut wakeups = queue.store.wakeups();
        let longest = queue.config.longest_poll;
        let mut backoff = Backoff::new(SHORTEST_POLL.min(longest), longest);
        let mut sweep_at = Instant::now();
        while !host.is_shutting_down() {
            self.join_finished();
            // A pool stops only after a claim that found nothing.
            self.may_find_work |= when_idle == WhenIdle::Stop && self.jobs.is_empty();
            if self.may_find_work && self.take_work().await > 0 {
                backoff.reset();
                // There may be more of it, and room: no reason to wait.
                continue;
            }
            if when_idle == WhenIdle::Stop && self.jobs.is_empty() {
                self.sweep().await;
                break;
            }
            tokio::select! {
                () = &mut shutdown => break,
                Some(done) = self.jobs.join_next() => self.done(done),
                () = queue.created.notified() => {
                    self.may_find_work = true;
                    backoff.reset();
                }
                wakeup = wakeups.next() => {
                    self.ring(wakeup);
                    backoff.reset();
                }
                () = tokio::time::sleep(backoff.pause(jitter())) => self.may_find_work = true,
                () = tokio::time::sleep_until(sweep_at) => {
                    self.sweep().await;
                    self.may_find_work = true;
                    // Jitter, so that the instances of a fleet sweep at different times.
                    let pause = queue.config.sweep;
                    sweep_at = Instant::now() + Backoff::new(pause, pause).pause(jitter());
                }
            }
        }
    }

    async fn join_all(&mut self) {
        while let Some(done) = self.jobs.join_next().await {
            self.done(done);
        }
    }

    /// Makes room: workers that have let go of their tasks count no more.
    fn join_finished(&mut self) {
        while let Some(done) = self.jobs.try_join_next() {
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
                self.tally.count_failed_claim();
                let cause: &dyn std::error::Error = &error;
                let code = error.code().unwrap_or("MR0404");
                tracing::warn!(target: "sterna::tasks", code, error = cause, "no work can be claimed");
                self.may_find_work = false;
                return 0;
            }
        };
        let taken = u32::try_from(claimed.len()).unwrap_or(u32::MAX);
        self.may_find_work = taken >= self.claim.limit;
        for claimed in claimed {
            self.claim.after = Some(claimed.owner);
            let (task, attempt) = (claimed.lease.task, claimed.attempt);
            let bell = Arc::new(Notify::new());
            let notify = Arc::clone(&bell);
            self.bells.insert(
                task,
                Bell {
                    notify,
                    rang: false,
                },
            );
            let worker = TaskWorker {
                host: Arc::clone(&self.host),
                catalog: Arc::clone(&catalog),
                queue: Arc::clone(&self.queue),
                claimed,
                since,
                bell,
                drain: self.drain,
                tally: Arc::clone(&self.tally),
            };
            let work = catalog.enclose(task, attempt, Box::pin(worker.work()));
            let working = self.queue.activity.begin();
            self.jobs.spawn(async move {
                work.await;
                drop(working);
                task
            });
        }
        taken
    }

    /// Tells the workers what they want to know. A task that none of them has may be
    /// claimed.
    fn ring(&mut self, wakeup: Wakeup) {
        match wakeup {
            Wakeup::Task(task) => match self.bells.get_mut(&task) {
                Some(bell) => bell.ring(),
                None => self.may_find_work = true,
            },
            Wakeup::Blob(_) => {}
            _ => {
                self.bells.values_mut().for_each(Bell::ring);
                self.may_find_work = true;
            }
        }
    }

    fn done(&mut self, done: Result<TaskId, tokio::task::JoinError>) {
        match done {
            Ok(task) => {
                let bell = self.bells.remove(&task);
                self.may_find_work |= bell.is_some_and(|bell| bell.rang);
            }
            // The panic hook has written the message; the lease will run out.
            Err(error) => {
                tracing::error!(target: "sterna::tasks", %error, "a worker broke down");
                // It does not say which task it had; its worker held the bell, too.
                self.bells
                    .retain(|_, bell| Arc::strong_count(&bell.notify) > 1);
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
        // It does not say which tasks have expired.
        self.queue.watches.notify_all();
    }
}

impl Bell {
    fn ring(&mut self) {
        self.rang = true;
        self.notify.notify_one();
    }
}

/// Returns a number that differs from one instance to the next, for pauses.
pub fn jitter() -> u64 {
    let bytes = random_bytes().unwrap_or_default();
    bytes.first_chunk().copied().map_or(0, u64::from_be_bytes)
}

/// Time after the end of a slice for the last writes to the store.
const GRACE: Duration = Duration::from_secs(2);

/// Shortest pause between two looks for work.
const SHORTEST_POLL: Duration = Duration::from_millis(50);

/// Most tasks of one claim: their journals are in memory at once.
const MOST_AT_ONCE: u32 = 64;

const MOST_SWEPT: u32 = 1000;
