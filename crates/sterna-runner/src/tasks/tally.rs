//! Counts what workers have done with tasks.

use std::sync::atomic::{AtomicU32, Ordering};

use sterna_store::Outcome;

use super::WorkerExit;

/// Work that was done on tasks in a slice of time.
///
/// A task that was claimed twice counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkDone {
    /// Tasks that have ended, in whatever way.
    pub finished: u32,
    /// Tasks that wait for an answer or a timer.
    pub waiting: u32,
    /// Tasks that were not finished in time: any worker goes on with them at
    /// once, where their last step ended.
    pub handed_over: u32,
    /// Attempts that failed; the tasks are tried again after a pause.
    pub retried: u32,
    /// Tasks that another instance must work on, or has taken over, or goes on
    /// with when their lease has ended.
    pub left: u32,
    /// Times that the store could not be asked for tasks. The log has the reason.
    pub failed_claims: u32,
}

impl WorkDone {
    /// Returns `true` if no task was worked on.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Ends of the work on tasks, counted by all workers of an instance.
#[derive(Debug, Default)]
pub(super) struct Tally {
    finished: AtomicU32,
    waiting: AtomicU32,
    handed_over: AtomicU32,
    retried: AtomicU32,
    left: AtomicU32,
    failed_claims: AtomicU32,
}

impl Tally {
    pub(super) fn count(&self, end: WorkEnd) {
        let counter = match end {
            WorkEnd::Cancelled | WorkEnd::Completed | WorkEnd::Failed => &self.finished,
            WorkEnd::HandedOver => &self.handed_over,
            WorkEnd::Left | WorkEnd::Lost => &self.left,
            WorkEnd::Retry => &self.retried,
            WorkEnd::Waiting => &self.waiting,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_failed_claim(&self) {
        self.failed_claims.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> WorkDone {
        let read = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        WorkDone {
            finished: read(&self.finished),
            waiting: read(&self.waiting),
            handed_over: read(&self.handed_over),
            retried: read(&self.retried),
            left: read(&self.left),
            failed_claims: read(&self.failed_claims),
        }
    }
}

/// Way in which the work on a task has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkEnd {
    Cancelled,
    Completed,
    Failed,
    HandedOver,
    Left,
    Lost,
    Retry,
    Waiting,
}

impl WorkEnd {
    pub(super) fn of(exit: &WorkerExit) -> Self {
        match exit {
            WorkerExit::Finished(Outcome::Cancelled) => Self::Cancelled,
            WorkerExit::Finished(Outcome::Completed(_)) => Self::Completed,
            WorkerExit::Finished(_) => Self::Failed,
            WorkerExit::HandedOver => Self::HandedOver,
            WorkerExit::Left => Self::Left,
            WorkerExit::Passivated => Self::Waiting,
            WorkerExit::Retry => Self::Retry,
        }
    }

    /// Returns a word for it, for operators.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Completed => "finished",
            Self::Failed => "failed",
            Self::HandedOver => "shed",
            Self::Left => "left",
            Self::Lost => "lost",
            Self::Retry => "retry",
            Self::Waiting => "waiting",
        }
    }
}
