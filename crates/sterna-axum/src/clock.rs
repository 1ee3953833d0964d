//! The one place where this crate reads a clock.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use sterna_flow::UnixMillis;

/// Wall clock that states are dated by: that of the system, or one that a test
/// moves.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<dyn Fn() -> SystemTime + Send + Sync>>);

impl Clock {
    /// A clock that shows what `read` returns.
    #[must_use]
    pub fn new(read: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(read)))
    }

    pub(crate) fn now(&self) -> UnixMillis {
        let read = self.0.as_ref();
        read.map_or_else(system, |read| read()).into()
    }
}

fn system() -> SystemTime {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only place that reads the clock"
    )]
    SystemTime::now()
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "Clock(given)",
            None => "Clock(system)",
        })
    }
}
