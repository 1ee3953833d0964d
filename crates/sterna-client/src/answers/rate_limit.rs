//! Rate limit of sampling requests (SAMP-C5).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Lets so many through in a minute; the others wait for their turn.
#[derive(Debug)]
pub(crate) struct RateLimit {
    per_minute: u32,
    /// When as many as may come at once will have been paid for.
    paid: Mutex<Option<Instant>>,
}

impl RateLimit {
    pub(crate) fn new(per_minute: u32) -> Self {
        Self {
            per_minute: per_minute.max(1),
            paid: Mutex::new(None),
        }
    }

    /// Waits until it is one's turn.
    pub(crate) async fn acquire(&self) {
        let wait = self.enter(Instant::now());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    /// Takes a place, and says how long it is until its turn.
    fn enter(&self, now: Instant) -> Duration {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        let until = paid.map_or(now, |until| until.max(now)) + MINUTE / self.per_minute;
        *paid = Some(until);
        until.duration_since(now).saturating_sub(MINUTE)
    }
}

const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_burst_one_at_a_time_passes() {
        let limit = RateLimit::new(3);
        let start = Instant::now();
        let mut waits = |after| {
            let wait = limit.enter(start + Duration::from_secs(after));
            wait.as_secs()
        };
        assert_eq!([0; 5].map(&mut waits), [0, 0, 0, 20, 40]);
        assert_eq!(waits(40), 20, "what was not used up is not lost");
        assert_eq!([1000; 4].map(waits), [0, 0, 0, 20]);
    }
}
