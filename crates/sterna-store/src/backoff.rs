//! The delays of a worker that finds no work.

use std::time::Duration;

/// A pause that doubles while nothing happens, with jitter so that a fleet
/// does not knock in step.
///
/// ```
/// use std::time::Duration;
/// use sterna_store::Backoff;
///
/// let mut backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));
/// let first = backoff.pause(u64::MAX);
/// assert_eq!(first, Duration::from_millis(50));
/// assert_eq!(backoff.pause(0), Duration::from_millis(50)); // half of 100
/// backoff.reset();
/// assert_eq!(backoff.pause(0), Duration::from_millis(25));
/// ```
#[derive(Clone, Debug)]
pub struct Backoff {
    shortest: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Pauses grow from `shortest` to `longest`.
    pub fn new(shortest: Duration, longest: Duration) -> Self {
        Self {
            shortest,
            longest,
            next: shortest.min(longest),
        }
    }

    /// The next pause: between half and all of the current step, as `random`
    /// picks. Any source of randomness will do.
    pub fn pause(&mut self, random: u64) -> Duration {
        let step = self.next;
        self.next = step.saturating_mul(2).min(self.longest);
        let half = step / 2;
        let share = u32::try_from(random >> 32).unwrap_or(u32::MAX);
        half + half.mul_f64(f64::from(share) / f64::from(u32::MAX))
    }

    /// Starts over: there was work.
    pub fn reset(&mut self) {
        self.next = self.shortest.min(self.longest);
    }
}

impl Default for Backoff {
    /// From 50 ms, which a client does not notice, to 2 s, which is one cheap query
    /// per idle worker.
    fn default() -> Self {
        Self::new(Duration::from_millis(50), Duration::from_secs(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = (0..8)
            .map(|_| backoff.pause(u64::MAX).as_millis())
            .collect();
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
    }

    #[test]
    fn a_pause_is_drawn_from_the_upper_half_and_begins_anew_after_work() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.pause(0).as_millis(), 25);
        let middle = backoff.pause(u64::from(u32::MAX / 2) << 32);
        assert_eq!(middle.as_millis(), 75);
        backoff.reset();
        assert_eq!(backoff.pause(u64::MAX).as_millis(), 50);
    }

    #[test]
    fn a_shortest_above_the_longest_is_the_longest() {
        let mut backoff = Backoff::new(Duration::from_secs(9), Duration::from_secs(1));
        assert_eq!(backoff.pause(u64::MAX), Duration::from_secs(1));
        assert_eq!(backoff.pause(u64::MAX), Duration::from_secs(1));
    }
}
