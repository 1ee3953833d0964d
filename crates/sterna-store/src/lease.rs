//! Messages between a worker and a store: claims, leases, commits.

use std::time::Duration;

use bytes::Bytes;

use crate::{Answer, Asked, Entry, FlowId, Name, Note, Owner, Question, Status, Summary, TaskId};

/// Counts the claims of a task. A write under an older number is refused, so a
/// worker that was declared dead and is not can do no harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(u64);

impl Fence {
    /// The fence with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The fence of the next claim.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The right to work on a task, until it is given back or taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Lease {
    /// The task.
    pub task: TaskId,
    /// Which of its claims this is.
    pub fence: Fence,
}

impl Lease {
    /// The lease that the claim number `fence` of `task` gave.
    pub const fn new(task: TaskId, fence: Fence) -> Self {
        Self { task, fence }
    }
}

/// A worker's wish for work.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// Name of the worker, for operators.
    pub worker: Name,
    /// Length of a lease that is not renewed.
    pub length: Duration,
    /// Largest number of tasks to claim.
    pub limit: u32,
    /// Which tasks to take.
    pub targets: Targets,
    /// The owner that had the last turn. Owners are given workers in turn, and
    /// the one that follows is next; `None` begins with the first.
    pub after: Option<Owner>,
    /// Tasks that the worker has in hand. They are not given to it again, even
    /// if the store's clock says that their leases have ended.
    pub held: Vec<TaskId>,
}

impl Claim {
    /// A wish for one task of any target.
    pub fn new(worker: Name, length: Duration) -> Self {
        Self {
            worker,
            length,
            limit: 1,
            targets: Targets::Any,
            after: None,
            held: Vec::new(),
        }
    }
}

/// Which tasks a worker knows how to run.
///
/// During a rolling upgrade a worker of the old build must leave a tool alone
/// that only the new one has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Targets {
    /// Every one.
    Any,
    /// Those of these tools.
    Only(Vec<Name>),
}

impl Targets {
    /// Returns `true` if tasks of `target` are wanted.
    pub fn include(&self, target: &Name) -> bool {
        match self {
            Self::Any => true,
            Self::Only(targets) => targets.contains(target),
        }
    }
}

/// A task that a worker may work on.
///
/// If its status is final, the task was cancelled or ran out of time: the work
/// left is to undo what it did, and then to finish it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claimed {
    /// The lease.
    pub lease: Lease,
    /// The task.
    pub summary: Summary,
    /// Its owner.
    pub owner: Owner,
    /// Its flow.
    pub flow: FlowId,
    /// Request that the task was created with.
    pub request: Bytes,
    /// Journal, in the order of its entries.
    pub journal: Vec<Entry>,
    /// Every question it ever asked, in that order.
    pub asked: Vec<Asked>,
    /// Answers that no worker has taken, in the order they came.
    pub answers: Vec<Answer>,
    /// 1 for a first try; one more for every claim since the task last made
    /// progress. Too many, and the task is poison: finish it as failed.
    pub attempt: u32,
}

impl Claimed {
    /// A first try at a task that has done and asked nothing.
    pub fn new(lease: Lease, summary: Summary, owner: Owner, flow: FlowId, request: Bytes) -> Self {
        Self {
            lease,
            summary,
            owner,
            flow,
            request,
            journal: Vec::new(),
            asked: Vec::new(),
            answers: Vec::new(),
            attempt: 1,
        }
    }
}

/// The changes that a worker writes in one transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commit {
    /// Entries to append. The same entry again is harmless, another value
    /// under the same key is refused.
    pub entries: Vec<Entry>,
    /// Keys of the answers that have been dealt with. An answer that is not
    /// taken is handed out again.
    pub taken: Vec<Name>,
    /// Replaces the set of open questions. `None` leaves it unchanged; `Some`
    /// withdraws every question that is not listed.
    pub open: Option<Vec<Question>>,
    /// A line for people.
    pub note: Option<Note>,
}

impl Commit {
    /// A commit of `entries`.
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        Self {
            entries: entries.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Takes the answer to `key`.
    #[must_use]
    pub fn taking(mut self, key: Name) -> Self {
        self.taken.push(key);
        self
    }

    /// Asks exactly `questions`.
    #[must_use]
    pub fn asking(mut self, questions: impl IntoIterator<Item = Question>) -> Self {
        self.open = Some(questions.into_iter().collect());
        self
    }

    /// Returns `true` if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The state of a task as its worker must know it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskUpdate {
    /// The status. A final one means: stop, undo, finish.
    pub status: Status,
    /// Answers that no worker has taken, in the order they came.
    pub answers: Vec<Answer>,
}

impl TaskUpdate {
    /// The news that the status is `status` and `answers` wait.
    pub fn new(status: Status, answers: Vec<Answer>) -> Self {
        Self { status, answers }
    }
}

/// The time at which an unfinished task that its worker gives back is due again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Passivation {
    /// Until an answer comes or this much time has passed.
    For(Duration),
    /// Until an answer comes.
    ForAnswers,
    /// Not at all: another worker goes on. A worker that shuts down does this.
    HandOver,
    /// This attempt failed: not before this much time has passed, and the
    /// attempt counts.
    Retry(Duration),
}

/// The result of giving a task back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Passivated {
    /// The task came to an end or was answered in the meantime: the lease is
    /// kept, go on.
    Refused(TaskUpdate),
    /// The lease is given back.
    Parked,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_that_asks_nothing_takes_questions_back() {
        assert!(Commit::default().is_empty());
        assert!(!Commit::default().asking([]).is_empty());
    }
}
