//! Numbers of the workers.

use std::time::Duration;

/// Settings of the workers inside a server, and of their tasks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskConfig {
    /// Number of tasks that this instance works on at the same time. A task that
    /// waits for an answer or a timer does not count. Sixty-four: a task mostly
    /// waits for its commits, and those of many tasks share one.
    pub workers: usize,
    /// Time after which a task is taken from a worker that does not renew its
    /// lease. Leases are renewed three times as often, so that one lost renewal
    /// does no harm.
    pub lease: Duration,
    /// Lifetime of a task after its creation: a day, unless a tool sets its own.
    /// `None` keeps tasks until they are deleted.
    pub ttl: Option<Duration>,
    /// Number of tasks of one caller that may be unfinished; a call that would
    /// begin another one is refused (MR0411). A thousand: far more than a person
    /// starts, and with arguments of 4 MiB each still no more than 4 GiB. `None`
    /// for any number.
    pub per_owner: Option<u32>,
    /// Pause that clients are asked to make between two `tasks/get`. A second: a
    /// person notices it, and it costs one read.
    pub poll_interval: Duration,
    /// Number of attempts without progress after which a task fails. Five,
    /// because a deployment may kill a worker twice in a row.
    pub attempts: u32,
    /// Pause before the first retry; before each further one it is twice as
    /// long, up to [`longest_retry`](Self::longest_retry).
    pub first_retry: Duration,
    /// Longest pause before a retry.
    pub longest_retry: Duration,
    /// Longest sleep for which a task stays in memory. A task that waits longer
    /// is passivated, and costs nothing until it wakes.
    pub linger: Duration,
    /// Time that tasks have after the server was told to stop, before they are
    /// handed over to another instance.
    pub drain: Duration,
    /// Pause between two sweeps of expired tasks.
    pub sweep: Duration,
    /// Longest pause between two looks for work. Wake-ups shorten it; nothing
    /// relies on them.
    pub longest_poll: Duration,
}

impl Default for TaskConfig {
    fn default() -> Self {
        Self {
            workers: 64,
            lease: Duration::from_secs(30),
            ttl: Some(Duration::from_secs(24 * 60 * 60)),
            per_owner: Some(1000),
            poll_interval: Duration::from_secs(1),
            attempts: 5,
            first_retry: Duration::from_secs(1),
            longest_retry: Duration::from_secs(60),
            linger: Duration::from_secs(1),
            drain: Duration::from_secs(10),
            sweep: Duration::from_secs(10),
            longest_poll: Duration::from_secs(2),
        }
    }
}
