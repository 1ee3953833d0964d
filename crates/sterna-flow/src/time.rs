//! Time as a number that the owner of a run passes in.

use std::fmt;
use std::time::Duration;

/// A moment, in milliseconds since the Unix epoch.
///
/// The engine has no clock: whoever polls a [`Driver`](crate::Driver) says
/// what time it is, so a test can make a year pass in one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(u64);

impl UnixMillis {
    /// The moment `millis` milliseconds after the epoch.
    #[must_use]
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// This moment moved into the future; the end of time stays the end.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// How long until `later`; nothing if it has passed.
    #[must_use]
    pub const fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}
