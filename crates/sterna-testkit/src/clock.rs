//! The time of a run: it begins on the same day every time, and can be turned
//! on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sterna_store::UnixMillis;
use tokio::time::Instant;

/// Follows the clock of tokio, so that a test which stops that stops this too.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    begun: Instant,
    ahead: Arc<AtomicU64>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            begun: Instant::now(),
            ahead: Arc::default(),
        }
    }

    /// Lets `time` pass at once.
    pub(crate) fn turn_on(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX / 2);
        self.ahead.fetch_add(millis, Ordering::Relaxed);
    }

    pub(crate) fn wall(&self) -> SystemTime {
        let ahead = Duration::from_millis(self.ahead.load(Ordering::Relaxed));
        SystemTime::UNIX_EPOCH + START + self.begun.elapsed() + ahead
    }

    pub(crate) fn millis(&self) -> UnixMillis {
        self.wall().into()
    }
}

/// The morning of 28 July 2026, when the revision came out.
const START: Duration = Duration::from_millis(1_785_231_000_000);
