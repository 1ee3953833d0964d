//! The one place where the command reads a clock and its environment.

use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use sterna_seal::UnixMillis;

/// The value of the variable `name`, if it is set to something.
#[expect(clippy::disallowed_methods, reason = "this is the CLI")]
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The path of the configuration, whether the file exists or not.
pub(crate) fn config_file() -> Option<PathBuf> {
    let folder = var("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(var("HOME")?).join(".config")));
    folder.map(|folder| folder.join("sterna/config.toml"))
}

pub(crate) fn now() -> UnixMillis {
    system_time().into()
}

/// The time as files have it.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn system_time() -> SystemTime {
    SystemTime::now()
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}
