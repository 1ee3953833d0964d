//! What time it is, and what time an instance takes it to be.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sterna_seal::UnixMillis;

/// The time of the simulated world. Clones are one clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorldClock {
    /// Milliseconds that have passed at once, besides those that were simulated.
    leapt: Arc<AtomicU64>,
}

impl WorldClock {
    /// Lets `time` pass in a moment, for everybody.
    pub(crate) fn leap(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.leapt.fetch_add(millis, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> UnixMillis {
        UnixMillis::from(SystemTime::UNIX_EPOCH + Duration::from_millis(self.millis()))
    }

    /// Milliseconds since 1970.
    fn millis(&self) -> u64 {
        BEGINNING + simulated() + self.leapt.load(Ordering::Relaxed)
    }
}

/// The clock on the wall of one instance.
#[derive(Clone, Debug)]
pub(crate) struct WallClock {
    pub(crate) world: WorldClock,
    /// Milliseconds by which it is ahead.
    pub(crate) skew: i64,
    /// Whether it misses the leaps.
    pub(crate) is_stopped: bool,
}

impl WallClock {
    pub(crate) fn now(&self) -> SystemTime {
        let right = if self.is_stopped {
            BEGINNING + simulated()
        } else {
            self.world.millis()
        };
        SystemTime::UNIX_EPOCH + Duration::from_millis(right.saturating_add_signed(self.skew))
    }
}

fn simulated() -> u64 {
    let elapsed = turmoil::sim_elapsed().unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// An ordinary day.
const BEGINNING: u64 = 1_785_196_800_000;
