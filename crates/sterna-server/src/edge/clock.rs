//! The one place where the server reads a clock.

use std::time::{Instant, SystemTime};

/// The moment, for measuring how long something takes.
///
/// Tokio's clock, so that a test which stops it stops us too.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The moment as the world counts it, for times that come in tokens.
pub(crate) fn wall() -> SystemTime {
    #[expect(clippy::disallowed_methods, reason = "the edge reads the clock here")]
    SystemTime::now()
}
