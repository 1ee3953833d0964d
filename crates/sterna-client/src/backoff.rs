//! Pauses between attempts.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use crate::config::Config;

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
