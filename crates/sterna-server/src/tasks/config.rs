use std::time::Duration;

/// The numbers of the workers inside a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskConfig {
    /// How many tasks this instance works on at once. A task that waits for an
    /// answer or a timer is none of them; sixteen keep a small machine busy.
    pub workers: usize,
    /// How long a task stays with a worker that says nothing. Renewed three
    /// times as often, so that one lost renewal does no harm.
    pub lease: Duration,
    /// How long a task lives after its creation. A day, unless a tool says
    /// otherwise; `None` keeps tasks until somebody deletes them.
    pub ttl: Option<Duration>,
    /// How many tasks of one caller may be unfinished; a call that would begin
    /// another one is refused (MR0411). A thousand: far more than a person
    /// starts, and with arguments of 4 MiB each still no more than 4 GiB. `None`
    /// for any number.
    pub per_owner: Option<u32>,
    /// How long clients are asked to wait between two looks. A second is felt
    /// as at once by nobody and costs one read.
    pub poll_interval: Duration,
    /// How often a task is tried without getting any further before it fails.
    /// Five, because a deployment may kill a worker twice in a row.
    pub attempts: u32,
    /// How long the first retry waits; each further one waits twice as long,
    /// up to [`longest_retry`](Self::longest_retry).
    pub first_retry: Duration,
    /// The longest wait before a retry.
    pub longest_retry: Duration,
    /// How long a sleeping task may stay in memory. Anything that waits longer
    /// is put away, and costs nothing until it wakes.
    pub linger: Duration,
    /// How long tasks may go on after the server was told to stop, before they
    /// are handed over to another instance.
    pub drain: Duration,
    /// How often tasks whose time is up are looked for.
    pub sweep: Duration,
    /// The longest pause between two looks for work. Hints shorten it; polling
    /// is what everything relies on.
    pub longest_poll: Duration,
}

impl Default for TaskConfig {
    fn default() -> Self {
        Self {
            workers: 16,
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
