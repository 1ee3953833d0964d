//! Tasks: work that outlives the request that began it.

use std::time::Duration;

use bytes::Bytes;

use crate::{
    Answer, Answered, BoxFuture, Claim, Claimed, Commit, Error, Lease, Listing, NewTask, Outcome,
    Owner, Page, Passivated, Passivation, Status, Summary, Task, TaskId, TaskUpdate, Wakeups,
};

/// Storage of tasks.
///
/// The first half serves clients. Each of its methods names the caller, and a
/// task of another owner looks to it like one that never was. The second half
/// serves workers: [`claim`](Self::claim) gives a lease, and everything under
/// that lease is refused with [`ErrorKind::Fenced`](crate::ErrorKind::Fenced)
/// once another worker has taken the task over.
///
/// Only the store's clock decides, so callers pass durations. What a method has
/// acknowledged survives a crash of the process; what a client or an effect
/// depends on (creation, answers, cancels, ends) survives a crash of the
/// machine too. Every method may be repeated with the same arguments after an
/// error.
///
/// # Cancel safety
///
/// A call that has begun keeps no other call waiting, even if its future is
/// not polled any more: a worker may have to wait for one before it goes on
/// with the other. A dropped call may or may not have happened, as after
/// [`ErrorKind::Unavailable`](crate::ErrorKind::Unavailable).
pub trait Tasks: Send + Sync {
    /// Creates a task and acknowledges it when it is durable.
    ///
    /// Creating a task again that its principal created before changes nothing
    /// and shows it as it is.
    ///
    /// # Errors
    ///
    /// `Conflict` if the id belongs to another owner or its journal has two values
    /// for one key, `Full` if there is no room, `Quota` if the owner has as many
    /// unfinished tasks as [`NewTask::quota`] allows.
    fn create(&self, task: NewTask) -> BoxFuture<'_, Result<Summary, Error>>;

    /// Returns a task to its owner, and `None` to other callers.
    fn read(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Task>, Error>>;

    /// Lists the caller's tasks, oldest first.
    fn list(&self, caller: Owner, page: Page) -> BoxFuture<'_, Result<Listing, Error>>;

    /// Answers questions of a task and wakes it.
    ///
    /// The first answer to an open question counts. Answers to any other key
    /// are ignored, and so is every answer to a task that has ended.
    fn answer(
        &self,
        caller: Owner,
        task: TaskId,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<Option<Answered>, Error>>;

    /// Cancels a task that has not ended, and shows the status it is in then.
    ///
    /// The status changes at once. A task that has begun goes to a worker once
    /// more, to undo what it did.
    fn cancel(&self, caller: Owner, task: TaskId) -> BoxFuture<'_, Result<Option<Status>, Error>>;

    /// Takes tasks that want a worker: new and woken ones, timers that have run
    /// out, and leases that have.
    ///
    /// Owners get their [turn](crate::machine::turns) one after the other, and
    /// the longest waiting task of an owner goes first. A task that cannot be
    /// read is set aside: it fails, and the others are taken all the same.
    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<Claimed>, Error>>;

    /// Extends a lease to `length` from now, and tells the news.
    ///
    /// # Errors
    ///
    /// `Fenced` if the lease is lost: stop at once.
    fn renew(&self, lease: Lease, length: Duration) -> BoxFuture<'_, Result<TaskUpdate, Error>>;

    /// Writes progress, and tells the news. Nothing of a commit may be acted
    /// upon before this returns.
    ///
    /// Questions asked by a task that has ended are left out.
    ///
    /// # Errors
    ///
    /// `Fenced` if the lease is lost, `Conflict` if an entry or a question
    /// contradicts an earlier one.
    fn append(&self, lease: Lease, commit: Commit) -> BoxFuture<'_, Result<TaskUpdate, Error>>;

    /// Writes progress and gives the task back, in one transaction that looks
    /// into the inbox once more: an answer that came in the meantime keeps the
    /// task awake and the lease alive.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append), and `Misuse` if nothing would wake the task.
    fn passivate(
        &self,
        lease: Lease,
        commit: Commit,
        rest: Passivation,
    ) -> BoxFuture<'_, Result<Passivated, Error>>;

    /// Ends a task, and shows the status it is in then: one that was cancelled
    /// or ran out of time keeps that end.
    ///
    /// # Errors
    ///
    /// `Fenced` if the lease is lost. The worker that ended a task may say so
    /// again.
    fn finish(&self, lease: Lease, outcome: Outcome) -> BoxFuture<'_, Result<Status, Error>>;

    /// Fails tasks whose time is up and deletes those that ended long enough
    /// ago. Call it now and then, from any instance.
    fn sweep_tasks(&self, sweep: Sweep) -> BoxFuture<'_, Result<Swept, Error>>;

    /// Hints that a task was answered or cancelled; see [`Wakeups`].
    fn wakeups(&self) -> Wakeups;

    /// Makes the id of a new task from random bits. A store of several shards
    /// writes into it where the task lives; others return it unchanged.
    fn place_task(&self, id: TaskId) -> TaskId {
        id
    }
}

/// The treatment of tasks that have expired.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sweep {
    /// The error a task that ran out of time fails with.
    pub error: Bytes,
    /// Time for which the end of a task can be read after its expiry.
    pub keep: Duration,
    /// Largest number of tasks to fail, and of tasks to delete.
    pub limit: u32,
}

impl Sweep {
    /// A sweep of at most 1000 tasks that keeps their ends for a minute, so
    /// that a client which polls slowly still learns what became of its task.
    pub fn new(error: Bytes) -> Self {
        Self {
            error,
            keep: Duration::from_secs(60),
            limit: 1000,
        }
    }
}

/// The number of rows that a sweep changed and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// Tasks that failed because their time was up.
    pub expired: u32,
    /// Tasks that are gone.
    pub deleted: u32,
}

impl Swept {
    /// A sweep that failed `expired` tasks and deleted `deleted`.
    pub const fn new(expired: u32, deleted: u32) -> Self {
        Self { expired, deleted }
    }
}
