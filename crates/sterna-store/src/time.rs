//! Moments on a store's own clock.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A moment on the clock of a store, in milliseconds since 1970.
///
/// Callers hand durations to a store and read moments from it: no host's clock
/// decides who holds a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(i64);

impl UnixMillis {
    /// The moment `millis` milliseconds after the beginning of 1970.
    pub const fn new(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the beginning of 1970.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// A duration as a store counts it: whole milliseconds, rounded up so that
    /// a short lease is not none, and at most three thousand years so that no
    /// database overflows.
    pub fn span(duration: Duration) -> i64 {
        let millis = duration.as_nanos().div_ceil(1_000_000);
        i64::try_from(millis).map_or(LONGEST, |millis| millis.min(LONGEST))
    }
}

impl Add<Duration> for UnixMillis {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(Self::span(duration)))
    }
}

impl Sub for UnixMillis {
    type Output = Duration;

    /// How long after `earlier` this is; nothing if it is not later.
    fn sub(self, earlier: Self) -> Duration {
        let millis = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

const LONGEST: i64 = 100_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sliver_of_time_is_a_millisecond_and_forever_is_a_number() {
        assert_eq!(UnixMillis::span(Duration::from_nanos(1)), 1);
        assert_eq!(UnixMillis::span(Duration::ZERO), 0);
        assert_eq!(UnixMillis::span(Duration::MAX), LONGEST);
        let end = UnixMillis::new(i64::MAX) + Duration::MAX;
        assert_eq!(end, UnixMillis::new(i64::MAX));
    }

    #[test]
    fn what_lies_ahead_has_no_age() {
        let now = UnixMillis::new(5);
        assert_eq!(now - UnixMillis::new(2), Duration::from_millis(3));
        assert_eq!(now - UnixMillis::new(9), Duration::ZERO);
    }
}
