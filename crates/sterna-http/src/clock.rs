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
        self.0.as_ref().map_or_else(system, |read| read())
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

fn system() -> SystemTime {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only place that reads the clock"
    )]
    SystemTime::now()
}
