//! The one place where the server reads a clock.

use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// Wall clock of a server: that of the system, or one that a test moves.
///
/// Tokens, access tokens and states are dated by it. Time-outs and rate limits
/// are not: they are measured by tokio's clock.
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
/// use sterna_http::HttpConfig;
/// use sterna_http::clock::Clock;
///
/// let mut config = HttpConfig::default();
/// config.clock = Clock::new(|| SystemTime::UNIX_EPOCH);
/// assert_eq!(config.clock.now(), SystemTime::UNIX_EPOCH);
/// ```
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<dyn Fn() -> SystemTime + Send + Sync>>);

impl Clock {
    /// A clock that shows what `read` returns.
    #[must_use]
    pub fn new(read: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(read)))
    }

    /// The clock of the system, which is the default.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// Returns the time.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        self.0.as_ref().map_or_else(wall, |read| read())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "Clock(given)",
            None => "Clock(system)",
        })
    }
}

/// The moment, for measuring how long something takes.
///
/// Tokio's clock, so that a test which stops it stops us too.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The moment as the world counts it, for times that come in tokens.
pub fn wall() -> SystemTime {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only place that reads the clock"
    )]
    let real = SystemTime::now;
    CLOCK.try_with(|clock| clock()).unwrap_or_else(|_| real())
}

/// Runs `future` with `wall` as its wall clock, for tests that turn clocks: the
/// server dates the tokens it seals and opens by it.
///
/// The clock applies to everything that is polled as part of `future` and to the
/// workers of tasks, but to no other task that is spawned.
///
/// # Cancel safety
///
/// That of `future`.
pub async fn with_clock<F: Future>(
    wall: impl Fn() -> SystemTime + Send + Sync + 'static,
    future: F,
) -> F::Output {
    CLOCK.scope(Arc::new(wall), future).await
}

/// Hands the wall clock of this task on to one that it spawns.
pub fn inherit_clock<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let clock = CLOCK.try_with(Arc::clone).ok();
    async move {
        match clock {
            Some(clock) => CLOCK.scope(clock, future).await,
            None => future.await,
        }
    }
}

tokio::task_local! {
    static CLOCK: Arc<dyn Fn() -> SystemTime + Send + Sync>;
}
