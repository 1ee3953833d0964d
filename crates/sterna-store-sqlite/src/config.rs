//! Settings of a store in a file.

use std::time::Duration;

/// Settings of a [`SqliteStore`](crate::SqliteStore).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Time to wait for another process that writes to the same file.
    ///
    /// Five seconds: longer than any of our transactions, shorter than a
    /// client's patience.
    pub busy: Duration,
    /// Number of calls that may wait for the writer. Further callers wait for a place
    /// in the queue.
    ///
    /// A thousand: a second's work on a slow disk.
    pub queue: usize,
    /// Number of simultaneous calls that share one transaction.
    ///
    /// 64: they share the cost of one sync, and none waits for long.
    pub batch: usize,
    /// Largest size of the file. Beyond it, calls that need room fail with `Full`.
    ///
    /// `None` by default: the disk is the limit.
    pub bytes: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            busy: Duration::from_secs(5),
            queue: 1000,
            batch: 64,
            bytes: None,
        }
    }
}
