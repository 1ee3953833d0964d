//! How a store in a file behaves.

use std::time::Duration;

/// Settings of a [`SqliteStore`](crate::SqliteStore).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// How long to wait for another process that writes to the same file.
    ///
    /// Five seconds: longer than any of our transactions, shorter than a
    /// client's patience.
    pub busy: Duration,
    /// How many calls may wait for the writer. A caller beyond that waits to
    /// be let in.
    ///
    /// A thousand: a second's work on a slow disk.
    pub queue: usize,
    /// How many calls share one transaction when they come at once.
    ///
    /// 64: they share the cost of one sync, and none waits for long.
    pub batch: usize,
    /// How big the file may become. Beyond that, calls that need room fail
    /// with `Full`.
    ///
    /// Nothing: the disk is the limit.
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
