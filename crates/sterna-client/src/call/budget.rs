//! The time a whole call may take, and the pauses it makes.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::Config;
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
    /// it then keeps its own time, and what they took is not counted.
    pub(crate) async fn send<T>(
        &mut self,
        core: &Core,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let Spoken::Legacy(session) = &core.spoken else {
            return self.spend(work).await;
        };
        let (since, before) = (Instant::now(), session.asking.time());
        let done = work.await;
        let asked = session.asking.time().saturating_sub(before);
        let taken = since.elapsed().saturating_sub(asked);
        self.left = self.left.saturating_sub(taken);
        self.settle(done)
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
            Ok(done) => self.settle(done),
            Err(_) => Err(self.spent()),
        }
    }

    /// When nothing is left, it was the whole call that took too long.
    fn settle<T>(&self, done: Result<T, Error>) -> Result<T, Error> {
        match done {
            Err(error) if self.left.is_zero() && is_timeout(&error) => Err(self.spent()),
            done => done,
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
#[derive(Debug)]
pub(crate) struct Pacing {
    first: Duration,
    longest: Duration,
    made: u32,
}

impl Pacing {
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
        let mut pacing = Pacing::new(&Config::default());
        for full in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let pause = pacing.next();
            let full = Duration::from_millis(full);
            assert!((full / 2..=full).contains(&pause), "{pause:?} of {full:?}");
        }
        pacing.reset();
        assert!(pacing.next() <= Duration::from_millis(100));
    }
}
