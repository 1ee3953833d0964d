//! The workers of one instance: who looks for work, and how much of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_http::{Shutdown, clock};
use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};
use sterna_store::{Backoff, Claim, Name, Sweep, Targets, TaskId, Wakeup};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::job::Job;
use super::{Tasks, jitter, random};
use crate::core::Core;
use crate::current::CurrentCore;

/// Works on tasks until `shutdown` begins, then lets go of them.
pub(crate) async fn work(current: CurrentCore, shutdown: Shutdown) {
    let core = current.core();
    let Some(tasks) = core.tasks.clone() else {
        return;
    };
    let Some(worker) = worker_name(&core) else {
        tracing::error!(target: "sterna::tasks", "a worker has no name");
        return;
    };
    let claim = Claim::new(worker, tasks.config.lease);
    let pool = Pool {
        current,
        tasks,
        shutdown,
        claim,
        jobs: JoinSet::new(),
        bells: HashMap::new(),
    };
    pool.run().await;
}

struct Pool {
    current: CurrentCore,
    tasks: Arc<Tasks>,
    shutdown: Shutdown,
    claim: Claim,
    jobs: JoinSet<TaskId>,
    /// Rung when a task that runs here was answered or cancelled.
    bells: HashMap<TaskId, Arc<Notify>>,
}

impl Pool {
    async fn run(mut self) {
        let tasks = Arc::clone(&self.tasks);
        let shutdown = self.shutdown.clone();
        let mut wakeups = tasks.store.wakeups();
        let longest = tasks.config.longest_poll;
        let mut backoff = Backoff::new(SHORTEST_POLL.min(longest), longest);
        let mut sweep_at = Instant::now();
        while !shutdown.has_begun() {
            let taken = self.take_work().await;
            if taken > 0 {
                backoff.reset();
            }
            if taken == MOST_AT_ONCE {
                // There may be more of it, and room: no reason to wait.
                continue;
            }
            tokio::select! {
                () = shutdown.begun() => break,
                Some(done) = self.jobs.join_next() => self.done(done),
                () = tasks.fresh.notified() => backoff.reset(),
                wakeup = wakeups.next() => {
                    self.ring(wakeup);
                    backoff.reset();
                }
                () = tokio::time::sleep(backoff.pause(jitter())) => {}
                () = tokio::time::sleep_until(sweep_at) => {
                    sweep(&tasks).await;
                    // Jitter, so that a fleet does not sweep in step.
                    sweep_at = Instant::now() + Backoff::new(tasks.config.sweep, tasks.config.sweep).pause(jitter());
                }
            }
        }
        while let Some(done) = self.jobs.join_next().await {
            self.done(done);
        }
    }

    /// Claims some of what there is room for; says how much it was.
    async fn take_work(&mut self) -> u32 {
        let room = self.tasks.config.workers.saturating_sub(self.jobs.len());
        let Ok(limit @ 1..) = u32::try_from(room) else {
            return 0;
        };
        let core = self.current.core();
        let targets = core.task_tools().filter_map(|name| Name::new(name).ok());
        self.claim.targets = Targets::Only(targets.collect());
        let since = Instant::now();
        self.claim.limit = limit.min(MOST_AT_ONCE);
        // A clock that was set must not make us take over what runs here.
        self.claim.held = self.bells.keys().copied().collect();
        let claimed = match self.tasks.store.claim(self.claim.clone()).await {
            Ok(claimed) => {
                self.tasks.trouble.claimed();
                claimed
            }
            Err(error) => {
                self.tasks.trouble.cannot_claim(&error);
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
            let task = claimed.lease.task;
            let bell = Arc::new(Notify::new());
            self.bells.insert(task, Arc::clone(&bell));
            let job = Job {
                core: Arc::clone(&core),
                tasks: Arc::clone(&self.tasks),
                claimed,
                since,
                bell,
                shutdown: self.shutdown.clone(),
            };
            self.jobs.spawn(clock::inherit_clock(async move {
                job.run().await;
                task
            }));
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
            // The panic hook has said what and where; the lease will run out.
            Err(error) => {
                tracing::error!(target: "sterna::tasks", %error, "a worker broke down");
                // It does not say which task it had; nobody else hears that bell.
                self.bells.retain(|_, bell| Arc::strong_count(bell) > 1);
            }
        }
    }
}

/// Fails and forgets what has had its time.
async fn sweep(tasks: &Tasks) {
    let expired = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "The task has expired");
    let expired = serde_json::to_vec(&expired).expect("an error holds JSON only");
    let store = &tasks.store;
    let swept = async {
        store.sweep_tasks(Sweep::new(Bytes::from(expired))).await?;
        store.sweep_ledger(MOST_SWEPT).await?;
        store.sweep_blobs(MOST_SWEPT).await
    };
    if let Err(error) = swept.await {
        let cause: &dyn std::error::Error = &error;
        tracing::warn!(target: "sterna::tasks", error = cause, "what has had its time cannot be swept");
    }
    tasks.touched();
}

fn worker_name(core: &Core) -> Option<Name> {
    let id = u32::from_be_bytes(random().ok()?.first_chunk().copied()?);
    let mut name = core.info.name.clone();
    name.truncate(name.floor_char_boundary(200));
    Name::new(format!("{name}-{id:08x}")).ok()
}

/// Work is looked for this soon after the last was found.
const SHORTEST_POLL: Duration = Duration::from_millis(50);

/// One claim takes no more, so that instances share what there is.
const MOST_AT_ONCE: u32 = 8;

const MOST_SWEPT: u32 = 1000;
