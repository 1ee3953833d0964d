//! The clock of a file, and steps of the time of day that it leaves out.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sterna_store::UnixMillis;

/// The wall clock of this machine, which every process that shares a file
/// reads, compared with a clock that cannot be set.
///
/// Moments in the file are wall time, so that processes agree. Whether a lease
/// has ended is another question: when the wall clock is set forward, every
/// lease seems to have ended although its holder is alive. So a step forward is
/// left out of account for as long as a lease lasts. By then every holder that
/// lives has renewed its lease on the new time, and a lease that has not been
/// renewed belongs to a process that is dead.
pub(crate) struct Clock {
    wall: Box<dyn Fn() -> UnixMillis + Send + Sync>,
    steady: Box<dyn Fn() -> Duration + Send + Sync>,
    steps: Mutex<Steps>,
}

/// The steps of the wall clock that this process has seen.
#[derive(Default)]
struct Steps {
    /// Wall time minus steady time when it was last found changed.
    offset: Option<i64>,
    /// Steps forward, in milliseconds, each with the steady time at which it
    /// was noticed.
    forward: Vec<(Duration, i64)>,
}

impl Clock {
    /// The clocks of this machine.
    #[expect(
        clippy::disallowed_methods,
        reason = "the only place of this crate that reads the time"
    )]
    pub(crate) fn system() -> Self {
        let begun = Instant::now();
        Self::new(
            || {
                let since = SystemTime::now().duration_since(UNIX_EPOCH);
                UnixMillis::new(0) + since.unwrap_or_default()
            },
            move || begun.elapsed(),
        )
    }

    /// A clock that reads the time of day from `wall` and the time since some
    /// moment from `steady`.
    pub(crate) fn new(
        wall: impl Fn() -> UnixMillis + Send + Sync + 'static,
        steady: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        let clock = Self {
            wall: Box::new(wall),
            steady: Box::new(steady),
            steps: Mutex::default(),
        };
        clock.now();
        clock
    }

    /// The time of day, as it is written.
    pub(crate) fn now(&self) -> UnixMillis {
        let (wall, steady) = ((self.wall)(), (self.steady)());
        let offset = wall.get().saturating_sub(UnixMillis::span(steady));
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *steps.offset.get_or_insert(offset);
        let step = offset.saturating_sub(before);
        if step.abs() >= SMALLEST_STEP {
            steps.offset = Some(offset);
            steps
                .forward
                .retain(|(noticed, _)| steady.saturating_sub(*noticed) < LONGEST_LEASE);
            if step > 0 {
                steps.forward.push((steady, step));
            }
        }
        wall
    }

    /// The time by which a lease of `length` is judged at `now`: a lease that
    /// ends later than this is held.
    pub(crate) fn for_leases(&self, now: UnixMillis, length: Duration) -> UnixMillis {
        let steady = (self.steady)();
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = steps
            .forward
            .iter()
            .filter(|(noticed, _)| steady.saturating_sub(*noticed) < length)
            .map(|(_, step)| *step)
            .fold(0, i64::saturating_add);
        UnixMillis::new(now.get().saturating_sub(recent))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}

/// A clock that is set moves by more than this; one that is slewed and a
/// scheduler that pauses between two readings do not.
const SMALLEST_STEP: i64 = 500;

/// Steps older than this are forgotten: no lease is longer.
const LONGEST_LEASE: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    /// The time of day at the start, far enough from 1970 to step back.
    const START: i64 = 1_800_000_000_000;

    /// A clock whose two times the test moves.
    struct Moved {
        clock: Clock,
        wall: Arc<AtomicI64>,
        steady: Arc<AtomicU64>,
    }

    impl Moved {
        fn new() -> Self {
            let wall = Arc::new(AtomicI64::new(START));
            let steady = Arc::new(AtomicU64::new(0));
            let (of_day, since) = (Arc::clone(&wall), Arc::clone(&steady));
            let clock = Clock::new(
                move || UnixMillis::new(of_day.load(Ordering::Relaxed)),
                move || Duration::from_millis(since.load(Ordering::Relaxed)),
            );
            Self {
                clock,
                wall,
                steady,
            }
        }

        /// Lets time pass.
        fn pass(&self, millis: u32) {
            self.wall.fetch_add(millis.into(), Ordering::Relaxed);
            self.steady.fetch_add(millis.into(), Ordering::Relaxed);
        }

        /// Sets the wall clock.
        fn step(&self, millis: i64) {
            self.wall.fetch_add(millis, Ordering::Relaxed);
        }

        /// The time of day since the start, and how far leases are behind it.
        fn read(&self) -> (i64, i64) {
            let now = self.clock.now();
            (
                now.get() - START,
                now.get() - self.clock.for_leases(now, LEASE).get(),
            )
        }
    }

    #[test]
    fn time_that_passes_is_no_step() {
        let moved = Moved::new();
        for _ in 0..10 {
            moved.pass(60_000);
            moved.step(40);
            assert_eq!(moved.read().1, 0);
        }
    }

    #[test]
    fn a_step_forward_ends_no_lease_until_its_holder_could_renew_it() {
        let moved = Moved::new();
        moved.pass(1000);
        moved.step(120_000);
        assert_eq!(moved.read(), (121_000, 120_000));
        moved.pass(29_999);
        assert_eq!(moved.read().1, 120_000);
        moved.pass(1);
        assert_eq!(moved.read().1, 0);
    }

    #[test]
    fn steps_add_up_and_a_step_back_ends_nothing() {
        let moved = Moved::new();
        moved.step(10_000);
        assert_eq!(moved.read().1, 10_000);
        moved.pass(20_000);
        moved.step(5_000);
        assert_eq!(moved.read().1, 15_000);
        moved.pass(10_000);
        assert_eq!(moved.read().1, 5_000);
        moved.step(-100_000);
        assert_eq!(moved.read().1, 5_000);
        moved.pass(60_000);
        assert_eq!(moved.read().1, 0);
    }
}
