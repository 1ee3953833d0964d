use std::time::Duration;

use tokio::time::Instant;

use crate::error::{Error, Fault};

/// How long an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Without any sign of progress.
    pub(crate) silence: Duration,
    /// In all.
    pub(crate) total: Duration,
}

/// The time that a request has left.
pub(super) struct Clock {
    patience: Patience,
    silent_until: Instant,
    end: Instant,
    paused: Option<Instant>,
}

impl Clock {
    pub(super) fn start(patience: Patience) -> Self {
        let now = Instant::now();
        Self {
            patience,
            silent_until: after(now, patience.silence),
            end: after(now, patience.total),
            paused: None,
        }
    }

    pub(super) async fn until<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.ring() => Err(self.expired()),
        }
    }

    pub(super) fn ring(&self) -> impl Future<Output = ()> + use<> {
        tokio::time::sleep_until(self.silent_until.min(self.end))
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.silent_until.min(self.end)
    }

    pub(super) fn expired(&self) -> Error {
        // CANCEL-C4: the exchange is dropped with the caller's frame, which cancels it.
        let limit = if self.end < self.silent_until {
            self.patience.total
        } else {
            self.patience.silence
        };
        Fault::Timeout(limit).into()
    }

    /// CANCEL-C6: progress buys time, up to the end.
    pub(super) fn reset(&mut self) {
        self.silent_until = after(Instant::now(), self.patience.silence);
    }

    /// Gives the server another chance after people were asked.
    pub(super) fn extend(&mut self) {
        self.end = after(self.end, self.patience.silence);
        self.reset();
    }

    pub(super) fn pause(&mut self) {
        self.paused.get_or_insert_with(Instant::now);
    }

    pub(super) fn resume(&mut self) {
        if let Some(since) = self.paused.take() {
            self.end = after(self.end, since.elapsed());
            self.reset();
        }
    }
}

/// Later than `now`; a wait that the clock cannot hold is one without end.
fn after(now: Instant, wait: Duration) -> Instant {
    const AGES: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    now + wait.min(AGES)
}
