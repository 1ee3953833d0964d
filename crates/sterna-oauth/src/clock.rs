//! The clock of this crate, and the lifetime of a token.

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

/// Expiry of a token, and the time at which it should be renewed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime {
    pub(crate) expires: Option<UnixSeconds>,
    pub(crate) refresh_at: Option<UnixSeconds>,
}

impl Lifetime {
    /// A token that lives `seconds` from `now` and is renewed `margin` before
    /// its end, but never in the first three quarters of a short life.
    pub(crate) fn new(now: UnixSeconds, seconds: Option<u64>, margin: u64) -> Self {
        let expires = seconds.map(|seconds| now.plus(seconds));
        let margin = seconds.map_or(margin, |seconds| margin.min(seconds / 4));
        Self {
            expires,
            refresh_at: expires.map(|end| end.minus(margin)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_renewed_before_its_end_but_not_at_once() {
        let at = |seconds| {
            let lifetime = Lifetime::new(UnixSeconds(1000), seconds, 30);
            (
                lifetime.refresh_at.map(|t| t.0),
                lifetime.expires.map(|t| t.0),
            )
        };
        assert_eq!(at(Some(3600)), (Some(4570), Some(4600)));
        assert_eq!(at(Some(40)), (Some(1030), Some(1040)));
        assert_eq!(at(Some(0)), (Some(1000), Some(1000)));
        assert_eq!(at(Some(u64::MAX)), (Some(u64::MAX - 30), Some(u64::MAX)));
        assert_eq!(at(None), (None, None));
    }
}
