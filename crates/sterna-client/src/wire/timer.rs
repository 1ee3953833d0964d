use std::time::Duration;

use tokio::time::Instant;

use crate::error::{Error, Fault};

/// Timeouts of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Longest time without a response or progress.
    pub(crate) idle: Duration,
    /// Longest time in all.
    pub(crate) total: Duration,
}

/// The time that a request has left.
pub(crate) struct RequestTimer {
    timeouts: Timeouts,
    silent_until: Instant,
    end: Instant,
    paused: Option<Instant>,
}

impl RequestTimer {
    pub(crate) fn start(timeouts: Timeouts) -> Self {
        let now = Instant::now();
        Self {
            timeouts,
            silent_until: after(now, timeouts.idle),
            end: after(now, timeouts.total),
            paused: None,
        }
    }

    pub(crate) async fn until<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.ring() => Err(self.expired()),
        }
    }

    pub(crate) fn ring(&self) -> impl Future<Output = ()> + use<> {
        tokio::time::sleep_until(self.silent_until.min(self.end))
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.silent_until.min(self.end)
    }

    pub(crate) fn expired(&self) -> Error {
        // CANCEL-C4: the exchange is dropped with the caller's frame, which cancels it.
        let limit = if self.end < self.silent_until {
            self.timeouts.total
        } else {
            self.timeouts.idle
        };
        Fault::Timeout(limit).into()
    }

    /// CANCEL-C6: progress buys time, up to the end.
    pub(crate) fn reset(&mut self) {
        self.silent_until = after(Instant::now(), self.timeouts.idle);
    }

    /// Gives the server another chance after people were asked.
    pub(crate) fn extend(&mut self) {
        self.end = after(self.end, self.timeouts.idle);
        self.reset();
    }

    pub(crate) fn pause(&mut self) {
        self.paused.get_or_insert_with(Instant::now);
    }

    pub(crate) fn resume(&mut self) {
        if let Some(since) = self.paused.take() {
            self.end = after(self.end, since.elapsed());
            self.reset();
        }
    }
}

/// Later than `now`; a wait that the timer cannot hold is one without end.
fn after(now: Instant, wait: Duration) -> Instant {
    const AGES: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    now + wait.min(AGES)
}
