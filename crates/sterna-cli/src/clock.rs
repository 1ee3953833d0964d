//! The one place where the command reads a clock.

use std::time::{Instant, SystemTime};

use sterna_seal::UnixMillis;

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn now() -> UnixMillis {
    SystemTime::now().into()
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}
