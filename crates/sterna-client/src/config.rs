//! Numbers that have a safe default.

use std::time::Duration;

/// Limits of a [`Client`](crate::Client); calls can have their own.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Config {
    /// Longest wait for a connection. Ten seconds are three lost packets in a
    /// row and some.
    pub connect_timeout: Duration,
    /// How long all rounds of a call may take together, not counting the time
    /// that people take to answer. Progress does not extend it.
    pub deadline: Duration,
    /// The pause before the first retry that needs no answer, of which half is
    /// chance; each one after it
    /// is twice as long. Short, because a server that only moves a call to
    /// another instance is ready at once.
    pub first_pause: Duration,
    /// Where those pauses stop growing. Longer ones would keep a person waiting
    /// for a server that has recovered.
    pub longest_pause: Duration,
    /// Largest message or event that is read. Images travel in messages, so it
    /// is not small.
    pub max_message_bytes: usize,
    /// How many pages of a list are fetched before it is called endless.
    pub max_pages: usize,
    /// How often a call is sent again for a server that wants more input. Other
    /// clients stop at ten, so servers get by with less.
    pub max_rounds: u32,
    /// How long a server on a pipe may ponder the first question of all before
    /// it is taken for one of an earlier revision.
    pub probe_timeout: Duration,
    /// How often a server may have a model write something; what comes faster
    /// waits for its turn. Models cost money, and one a second is more than a
    /// person would agree to.
    pub samples_per_minute: u32,
    /// How long a server may be silent: neither an answer nor progress.
    pub timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            deadline: Duration::from_secs(600),
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(5),
            max_message_bytes: 16 << 20,
            max_pages: 1000,
            max_rounds: 10,
            probe_timeout: Duration::from_secs(5),
            samples_per_minute: 60,
            timeout: Duration::from_secs(60),
        }
    }
}
