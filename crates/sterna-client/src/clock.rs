//! The one place where this crate reads the clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seconds since 1970, as OAuth and JWT count time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UnixSeconds(pub(crate) u64);

impl UnixSeconds {
    #[expect(
        clippy::disallowed_methods,
        reason = "an edge crate reads the clock here and nowhere else"
    )]
    pub(crate) fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Self(since.as_secs())
    }

    pub(crate) fn plus(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    pub(crate) fn minus(self, seconds: u64) -> Self {
        Self(self.0.saturating_sub(seconds))
    }
}
