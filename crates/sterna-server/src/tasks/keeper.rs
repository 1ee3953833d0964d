//! Keeping a lease, and knowing when it is lost.

use std::sync::Arc;
use std::time::Duration;

use sterna_store::{
    BoxFuture, Commit, Error, ErrorKind, Lease, Outcome, Passivated, Passivation, Status, Store,
    TaskUpdate,
};
use tokio::time::Instant;

use super::Tasks;

/// A lease, and until when it is surely ours.
///
/// Counted from before the store was asked, on a clock that nobody sets: the
/// store may believe us longer, never shorter.
#[derive(Clone)]
pub(super) struct Keeper {
    tasks: Arc<Tasks>,
    pub(super) lease: Lease,
    length: Duration,
    ends: Instant,
    renew_at: Instant,
}

/// The lease is lost, or so nearly that nothing may be written under it: the
/// worker must let go of the task.
pub(super) struct Lost;

impl Keeper {
    /// Keeps `lease`, which was asked for at `since`.
    pub(super) fn new(tasks: Arc<Tasks>, lease: Lease, length: Duration, since: Instant) -> Self {
        Self {
            tasks,
            lease,
            length,
            ends: since + length,
            renew_at: since + length / 3,
        }
    }

    /// When the lease is to be renewed.
    pub(super) fn renew_at(&self) -> Instant {
        self.renew_at
    }

    /// Renews the lease and hears the news; nothing if the store has to be
    /// asked again.
    pub(super) async fn renew(&mut self) -> Result<Option<TaskUpdate>, Lost> {
        let since = Instant::now();
        let store = Arc::clone(&self.tasks.store);
        match self.within(store.renew(self.lease, self.length)).await? {
            Ok(news) => {
                self.ends = since + self.length;
                self.renew_at = since + self.length / 3;
                Ok(Some(news))
            }
            Err(error) => {
                self.judge(&error)?;
                self.renew_at = Instant::now() + self.length / 20;
                Ok(None)
            }
        }
    }

    /// Writes progress, and hears the news.
    pub(super) async fn append(&self, commit: Commit) -> Result<TaskUpdate, Lost> {
        self.insist(|store, lease| store.append(lease, commit.clone()))
            .await
    }

    /// Gives the task back, unless there is news.
    pub(super) async fn rest(&self, commit: Commit, rest: Passivation) -> Result<Passivated, Lost> {
        self.insist(|store, lease| store.passivate(lease, commit.clone(), rest))
            .await
    }

    /// Ends the task.
    pub(super) async fn finish(&self, outcome: Outcome) -> Result<Status, Lost> {
        self.insist(|store, lease| store.finish(lease, outcome.clone()))
            .await
    }

    /// Says something to the store until it is heard or the lease ends.
    async fn insist<T>(
        &self,
        say: impl for<'a> Fn(&'a dyn Store, Lease) -> BoxFuture<'a, Result<T, Error>>,
    ) -> Result<T, Lost> {
        loop {
            match self.within(say(&*self.tasks.store, self.lease)).await? {
                Ok(said) => return Ok(said),
                Err(error) => self.judge(&error)?,
            }
            tokio::time::sleep(self.length / 100).await;
        }
    }

    async fn within<T>(&self, said: impl Future<Output = T>) -> Result<T, Lost> {
        // A little before its end, because what is under way must not arrive after it.
        let last = self.ends - self.length / 10;
        tokio::time::timeout_at(last, said).await.map_err(|_| {
            tracing::warn!(target: "sterna::tasks", task = ?self.lease.task, "MR0404: the store was silent for a whole lease");
            Lost
        })
    }

    /// Whether it is worth asking again.
    fn judge(&self, error: &Error) -> Result<(), Lost> {
        self.tasks.trouble.note(error);
        let cause: &dyn std::error::Error = error;
        let task = self.lease.task;
        match error.kind() {
            ErrorKind::Unavailable => Ok(()),
            ErrorKind::Fenced => {
                tracing::info!(target: "sterna::tasks", ?task, "another worker has taken a task over");
                Err(Lost)
            }
            _ => {
                let code = error.code().unwrap_or("MR0404");
                tracing::error!(target: "sterna::tasks", ?task, code, error = cause, "the store refuses a worker");
                Err(Lost)
            }
        }
    }
}
