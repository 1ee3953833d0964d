//! Limits and pauses, with safe defaults.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Limits of a [`Client`](crate::Client); calls can have their own.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Config {
    /// Checks that a tool's structured result is what its output schema promises.
    /// A gateway leaves that to the client that called.
    pub checks_results: bool,
    /// Longest wait for a connection. Ten seconds are three lost packets in a
    /// row and some.
    pub connect_timeout: Duration,
    /// Longest time of all rounds of a call together. The time that people take
    /// to answer is not counted; progress does not extend it.
    pub deadline: Duration,
    /// Pause before the first retry that needs no answer; half of it is random,
    /// and each later pause is twice as long. Short, because a server that only
    /// moves a call to another instance is ready at once.
    pub first_pause: Duration,
    /// Largest of those pauses. Longer ones would keep a person waiting for a
    /// server that has recovered.
    pub longest_pause: Duration,
    /// Largest message or event that is read. Images travel in messages, so it
    /// is not small.
    pub max_message_bytes: usize,
    /// Largest number of pages of a list. A longer list is an error.
    pub max_pages: usize,
    /// Largest number of retries of a call for a server that wants more input.
    /// Other clients stop at ten, so servers manage with fewer.
    pub max_rounds: u32,
    /// Longest wait for the first response on a pipe. A server that is silent
    /// for longer is treated as one of an earlier revision.
    pub probe_timeout: Duration,
    /// Sampling requests of a server per minute; further ones wait. Models cost
    /// money, and one a second is more than a person would agree to.
    pub samples_per_minute: u32,
    /// Longest time without a response or progress of the server.
    pub timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            checks_results: true,
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

/// The pauses before retries that need no answer, longer and longer.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    made: u32,
}

impl Backoff {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            first: config.first_pause,
            longest: config.longest_pause,
            made: 0,
        }
    }

    /// The next pause: half of it certain, half of it chance, so that many
    /// clients of one server do not come back together.
    pub(crate) fn next(&mut self) -> Duration {
        let full = self.first.saturating_mul(1 << self.made.min(16));
        let full = full.min(self.longest);
        self.made = self.made.saturating_add(1);
        let half = full / 2;
        let chance = RandomState::new().hash_one(()) % 1024;
        half + half.mul_f64(f64::from(u16::try_from(chance).unwrap_or(0)) / 1024.0)
    }

    /// After a round that took a person's time there is nothing to slow down.
    pub(crate) fn reset(&mut self) {
        self.made = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit_and_start_over() {
        let mut backoff = Backoff::new(&Config::default());
        for full in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let pause = backoff.next();
            let full = Duration::from_millis(full);
            assert!((full / 2..=full).contains(&pause), "{pause:?} of {full:?}");
        }
        backoff.reset();
        assert!(backoff.next() <= Duration::from_millis(100));
    }
}
