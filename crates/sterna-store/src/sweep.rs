//! Removal of tasks that have expired.

use std::time::Duration;

use bytes::Bytes;

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
