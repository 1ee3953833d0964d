//! Works on one task.

use std::sync::Arc;
use std::time::Duration;

use sterna_store::{Claimed, Commit, Outcome, Passivated, Passivation, TaskUpdate};
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::Span;

use super::delivery::{Stop, TaskDelivery};
use super::host::{StartedTask, TaskCatalog, TaskHost, TaskProtocol};
use super::lease::{LeaseKeeper, LeaseLost};
use super::tally::{Tally, WorkEnd};
use super::{TaskQueue, TaskShared};
use crate::run::run;

/// Way in which a worker lets go of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a worker acts on each of them")]
pub enum WorkerExit {
    /// The task has ended.
    Finished(Outcome),
    /// Another worker goes on at once.
    HandedOver,
    /// The task is left to workers that can read it.
    Left,
    /// The task waits in the store.
    Passivated,
    /// The attempt failed; the task is tried again later.
    Retry,
}

/// Task that was claimed, and what its worker needs.
pub(super) struct TaskWorker<H: TaskHost> {
    pub(super) host: Arc<H>,
    pub(super) catalog: Arc<H::Catalog>,
    pub(super) queue: Arc<TaskQueue>,
    pub(super) claimed: Claimed,
    /// Time at which the claim was asked for.
    pub(super) since: Instant,
    /// Notified when the task was answered or cancelled.
    pub(super) bell: Arc<Notify>,
    /// Time that the task has, once the host shuts down, before it is handed over.
    pub(super) drain: Duration,
    pub(super) tally: Arc<Tally>,
}

impl<H: TaskHost> TaskWorker<H> {
    /// Works on the task until it ends, waits, or its lease is lost.
    pub(super) async fn work(self) {
        let (queue, lease) = (Arc::clone(&self.queue), self.claimed.lease);
        let length = queue.config.lease;
        let mut keeper = LeaseKeeper::new(Arc::clone(&queue), lease, length, self.since);
        let tally = Arc::clone(&self.tally);
        match self.work_under(&mut keeper).await {
            Ok(end) => {
                tally.count(end);
                queue.notify_changed(lease.task);
            }
            // It writes nothing more: the task is another's.
            Err(LeaseLost) => tally.count(WorkEnd::Lost),
        }
    }

    async fn work_under(mut self, keeper: &mut LeaseKeeper) -> Result<WorkEnd, LeaseLost> {
        let retry = self.retry_pause();
        let shared = TaskShared::new(Arc::clone(&self.queue), self.claimed.lease);
        let exit = match self.catalog.start(&self.claimed, &shared) {
            Ok(started) => self.run(started, &shared, keeper).await?,
            Err(exit) => exit,
        };
        let end = WorkEnd::of(&exit);
        Span::current().record("sterna.outcome", end.as_str());
        let passivation = match exit {
            WorkerExit::Passivated => return Ok(end),
            WorkerExit::Finished(outcome) => return keeper.finish(outcome).await.map(|_| end),
            WorkerExit::HandedOver => Passivation::HandOver,
            WorkerExit::Left => Passivation::For(LEFT),
            WorkerExit::Retry => Passivation::Retry(retry),
        };
        let passivated = keeper.passivate(Commit::default(), passivation).await?;
        if let (Passivation::For(_), Passivated::Refused(_)) = (passivation, passivated) {
            // The answer that woke it is for a worker that can read the task.
            let later = Passivation::Retry(LEFT);
            keeper.passivate(Commit::default(), later).await?;
        }
        Ok(end)
    }

    /// Runs the flow until it ends, waits, or must be let go of.
    async fn run<P: TaskProtocol>(
        &mut self,
        started: StartedTask<P>,
        shared: &TaskShared,
        keeper: &mut LeaseKeeper,
    ) -> Result<WorkerExit, LeaseLost> {
        let StartedTask {
            mut driver,
            mut protocol,
        } = started;
        let answers = std::mem::take(&mut self.claimed.answers);
        let claimed = TaskUpdate::new(self.claimed.summary.status, answers);
        let mut delivery = TaskDelivery::new(self, shared, &mut protocol, keeper);
        delivery.hear(claimed, &mut driver);
        // A flow that asks while it runs is not suspended.
        let resume = |_| Err(Stop::Exit(WorkerExit::Retry));
        match run(&mut driver, &mut delivery, resume).await {
            Ok(ended) => Ok(protocol.exit(ended)),
            Err(Stop::Exit(exit)) => Ok(exit),
            Err(Stop::Lost(lost)) => Err(lost),
        }
    }

    /// Returns the pause before the task is tried again.
    fn retry_pause(&self) -> Duration {
        let config = &self.queue.config;
        let doublings = self.claimed.attempt.saturating_sub(1).min(16);
        let pause = config.first_retry.saturating_mul(1 << doublings);
        pause.min(config.longest_retry)
    }
}

/// Pause for which a task is left alone that this worker cannot read: long
/// enough for a worker that can to claim it, and not much more.
const LEFT: Duration = Duration::from_secs(5);
