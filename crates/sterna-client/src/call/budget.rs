//! The time a whole call may take, and the pauses it makes.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::Instant;

use crate::core::{Core, Spoken};
use crate::error::{Error, Fault};
use crate::wire::Patience;

/// What is left of a call's time; it runs only while [`spend`](Self::spend) does.
#[derive(Debug)]
pub(crate) struct Budget {
    total: Duration,
    left: Duration,
    silence: Duration,
}

impl Budget {
    pub(crate) fn new(total: Duration, silence: Duration) -> Self {
        Self {
            total,
            left: total,
            silence,
        }
    }

    /// How long the next request may take.
    pub(crate) fn patience(&self) -> Patience {
        Patience {
            silence: self.silence,
            total: self.left,
        }
    }

    /// Sends a request. In a session people are asked while it is under way;
    /// it then keeps its own time, which stands still meanwhile.
    pub(crate) async fn send<T>(
        &mut self,
        core: &Core,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match core.spoken {
            Spoken::Legacy(_) => work.await,
            Spoken::Modern => self.spend(work).await,
        }
    }

    /// Does something that costs time.
    pub(crate) async fn spend<T>(
        &mut self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let since = Instant::now();
        let done = tokio::time::timeout(self.left, work).await;
        self.left = self.left.saturating_sub(since.elapsed());
        match done {
            Ok(Err(error)) if self.left.is_zero() && is_timeout(&error) => Err(self.spent()),
            Ok(done) => done,
            Err(_) => Err(self.spent()),
        }
    }

    fn spent(&self) -> Error {
        Fault::Timeout(self.total).into()
    }
}

fn is_timeout(error: &Error) -> bool {
    matches!(error.fault(), Fault::Timeout(_))
}

/// The pauses before retries that need no answer, longer and longer.
#[derive(Debug, Default)]
pub(crate) struct Pacing(u32);

impl Pacing {
    /// The next pause: half of it certain, half of it chance, so that many
    /// clients of one server do not come back together.
    pub(crate) fn next(&mut self) -> Duration {
        let full = FIRST_PAUSE
            .saturating_mul(1 << self.0.min(6))
            .min(LONGEST_PAUSE);
        self.0 = self.0.saturating_add(1);
        let half = full / 2;
        let chance = RandomState::new().hash_one(()) % 1024;
        half + half.mul_f64(f64::from(u16::try_from(chance).unwrap_or(0)) / 1024.0)
    }

    /// After a round that took a person's time there is nothing to slow down.
    pub(crate) fn reset(&mut self) {
        self.0 = 0;
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit_and_start_over() {
        let mut pacing = Pacing::default();
        for full in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let pause = pacing.next();
            let full = Duration::from_millis(full);
            assert!((full / 2..=full).contains(&pause), "{pause:?} of {full:?}");
        }
        pacing.reset();
        assert!(pacing.next() <= Duration::from_millis(100));
    }
}
