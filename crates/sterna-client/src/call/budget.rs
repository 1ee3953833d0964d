//! The time that a whole call may take.

use std::time::Duration;

use tokio::time::Instant;

use crate::core::{Core, Protocol};
use crate::error::{Error, Fault};
use crate::wire::Timeouts;

/// Remaining time of a call; it runs only while [`spend`](Self::spend) does.
#[derive(Debug)]
pub(crate) struct Budget {
    total: Duration,
    left: Duration,
    idle: Duration,
}

impl Budget {
    pub(crate) fn new(total: Duration, idle: Duration) -> Self {
        Self {
            total,
            left: total,
            idle,
        }
    }

    /// Timeouts of the next request.
    pub(crate) fn timeouts(&self) -> Timeouts {
        Timeouts {
            idle: self.idle,
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
        let Protocol::Legacy(session) = &core.protocol else {
            return self.spend(work).await;
        };
        let (since, before) = (Instant::now(), session.open_questions.time());
        let done = work.await;
        let asked = session.open_questions.time().saturating_sub(before);
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
