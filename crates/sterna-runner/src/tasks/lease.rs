//! Keeps the lease of a task, and notices when it is lost.

use std::sync::Arc;
use std::time::Duration;

use sterna_store::{
    BoxFuture, Commit, Error, ErrorKind, Lease, Outcome, Passivated, Passivation, Status, Store,
    TaskUpdate,
};
use tokio::time::Instant;

use super::TaskQueue;

/// Lease of a task, and the time until which it is certain.
///
/// The time is counted from before the store was asked, by a clock that is never
/// set: the store may hold the lease for valid longer, never shorter.
#[derive(Clone)]
pub(super) struct LeaseKeeper {
    queue: Arc<TaskQueue>,
    lease: Lease,
    length: Duration,
    ends: Instant,
    renew_at: Instant,
}

/// The lease is lost, or so nearly that nothing may be written under it: the
/// worker must let go of the task.
pub(super) struct LeaseLost;

impl LeaseKeeper {
    /// Keeps `lease`, which was asked for at `since`.
    pub(super) fn new(
        queue: Arc<TaskQueue>,
        lease: Lease,
        length: Duration,
        since: Instant,
    ) -> Self {
        Self {
            ends: since + length,
            renew_at: queue.renewal(since, length),
            queue,
            lease,
            length,
        }
    }

    /// Returns the time at which the lease is to be renewed.
    pub(super) fn renew_at(&self) -> Instant {
        self.renew_at
    }

    /// Renews the lease and returns the update of the task; `None` if the store
    /// has to be asked again.
    pub(super) async fn renew(&mut self) -> Result<Option<TaskUpdate>, LeaseLost> {
        let since = Instant::now();
        let store = Arc::clone(&self.queue.store);
        match self.within(store.renew(self.lease, self.length)).await? {
            Ok(news) => {
                self.ends = since + self.length;
                self.renew_at = self.queue.renewal(since, self.length);
                Ok(Some(news))
            }
            Err(error) => {
                self.judge(&error)?;
                self.renew_at = Instant::now() + self.length / 20;
                Ok(None)
            }
        }
    }

    /// Writes progress, and returns the update of the task.
    pub(super) async fn append(&self, commit: Commit) -> Result<TaskUpdate, LeaseLost> {
        self.repeat(|store, lease| store.append(lease, commit.clone()))
            .await
    }

    /// Gives the task back, unless it was answered or has ended meanwhile.
    pub(super) async fn passivate(
        &self,
        commit: Commit,
        passivation: Passivation,
    ) -> Result<Passivated, LeaseLost> {
        self.repeat(|store, lease| store.passivate(lease, commit.clone(), passivation))
            .await
    }

    /// Ends the task.
    pub(super) async fn finish(&self, outcome: Outcome) -> Result<Status, LeaseLost> {
        self.repeat(|store, lease| store.finish(lease, outcome.clone()))
            .await
    }

    /// Repeats an operation until the store has done it or the lease ends.
    async fn repeat<T>(
        &self,
        operation: impl for<'a> Fn(&'a dyn Store, Lease) -> BoxFuture<'a, Result<T, Error>>,
    ) -> Result<T, LeaseLost> {
        loop {
            match self
                .within(operation(&*self.queue.store, self.lease))
                .await?
            {
                Ok(done) => return Ok(done),
                Err(error) => self.judge(&error)?,
            }
            tokio::time::sleep(self.length / 100).await;
        }
    }

    async fn within<T>(&self, operation: impl Future<Output = T>) -> Result<T, LeaseLost> {
        // A little before its end, because what is under way must not arrive after it.
        let last = self.ends - self.length / 10;
        tokio::time::timeout_at(last, operation).await.map_err(|_| {
            tracing::warn!(target: "sterna::tasks", task = ?self.lease.task, "MR0404: the store was silent for a whole lease");
            LeaseLost
        })
    }

    /// Decides whether an operation that failed is worth repeating.
    fn judge(&self, error: &Error) -> Result<(), LeaseLost> {
        self.queue.health.note(error);
        let cause: &dyn std::error::Error = error;
        let task = self.lease.task;
        match error.kind() {
            ErrorKind::Unavailable => Ok(()),
            ErrorKind::Fenced => {
                tracing::info!(target: "sterna::tasks", ?task, "another worker has taken a task over");
                Err(LeaseLost)
            }
            _ => {
                let code = error.code().unwrap_or("MR0404");
                tracing::error!(target: "sterna::tasks", ?task, code, error = cause, "the store refuses a worker");
                Err(LeaseLost)
            }
        }
    }
}
