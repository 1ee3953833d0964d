//! Retries of a step.

use std::time::Duration;

/// The number of tries of a step, and the pauses between them.
///
/// For [`FlowCx::retry`](crate::FlowCx::retry). Only tries within one run count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    tries: u32,
    first: Duration,
    longest: Duration,
}

impl Retry {
    /// Tries up to `tries` times, without waiting.
    #[must_use]
    pub const fn times(tries: u32) -> Self {
        Self {
            tries,
            first: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }

    /// Waits `first` before the second try, then twice as long each time, but
    /// never longer than `longest`.
    #[must_use]
    pub const fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.first = first;
        self.longest = longest;
        self
    }

    /// The pause after the `tried`-th try, if there is another.
    pub(super) fn wait_after(self, tried: u32) -> Option<Duration> {
        if tried >= self.tries {
            return None;
        }
        let factor = 2_u32.saturating_pow(tried.saturating_sub(1));
        Some(self.first.saturating_mul(factor).min(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let ms = Duration::from_millis;
        let retry = Retry::times(5).backoff(ms(200), ms(1000));
        let waits: Vec<_> = (1..=5).map(|tried| retry.wait_after(tried)).collect();
        assert_eq!(
            waits,
            [
                Some(ms(200)),
                Some(ms(400)),
                Some(ms(800)),
                Some(ms(1000)),
                None
            ]
        );
        assert_eq!(Retry::times(0).wait_after(1), None);
        assert_eq!(
            Retry::times(u32::MAX).wait_after(1000),
            Some(Duration::ZERO)
        );
    }
}
