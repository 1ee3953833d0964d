use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::failure::Reason;

/// Failures to reach a server, and the time of the next attempt.
#[derive(Debug, Default)]
pub(super) struct ConnectionHealth(Mutex<Failures>);

#[derive(Debug, Default)]
struct Failures {
    /// Failures since the last success.
    count: u32,
    last: Option<(Reason, Instant)>,
}

impl ConnectionHealth {
    /// Reason that the server is not to be tried at `now`.
    pub(super) fn refusal(&self, now: Instant) -> Option<Reason> {
        let failures = self.lock();
        let (reason, at) = failures.last?;
        (now.duration_since(at) < pause(failures.count)).then_some(reason)
    }

    /// Reason that the last attempt failed for; `None` after a success.
    pub(super) fn reason(&self) -> Option<Reason> {
        self.lock().last.map(|(reason, _)| reason)
    }

    pub(super) fn failed(&self, reason: Reason, now: Instant) {
        let mut failures = self.lock();
        failures.count = failures.count.saturating_add(1);
        failures.last = Some((reason, now));
    }

    pub(super) fn succeeded(&self) {
        *self.lock() = Failures::default();
    }

    fn lock(&self) -> MutexGuard<'_, Failures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pause after so many failures in a row: half a second at first, so that a
/// process that died once is started again at once, half a minute at most.
fn pause(failures: u32) -> Duration {
    let doubled = FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    doubled.min(LONGEST)
}

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_is_tried_less_and_less_often() {
        let health = ConnectionHealth::default();
        let start = Instant::now();
        assert_eq!(health.refusal(start), None);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            health.failed(Reason::Unreachable, start);
            let after = |millis| start + Duration::from_millis(millis);
            let waits = |millis: &u64| health.refusal(after(*millis)).is_some();
            pauses.push((0..40_000).step_by(500).take_while(waits).count() / 2);
        }
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 30, 30]);
        health.succeeded();
        assert_eq!((health.refusal(start), health.reason()), (None, None));
    }
}
