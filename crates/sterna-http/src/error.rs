//! Errors of a configuration, and of listening.

use std::fmt;
use std::io;

/// The configuration cannot be used; correct it and start again.
///
/// Its `Debug` is its text, so that a `main` that returns it says what to do.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// An entry of `hosts` is not `host` or `host:port`.
    #[error("{0:?} is not of the form host or host:port")]
    Host(String),
    /// A limit leaves no room for a single request.
    #[error("{0} leaves no room for a single request")]
    NoRoom(&'static str),
    /// An entry of `origins` is not `scheme://host` or `scheme://host:port`.
    #[error("{0:?} is not of the form scheme://host or scheme://host:port")]
    Origin(String),
    /// The path does not begin with a slash, or it is one of ours.
    #[error("{0:?} cannot be the path of the endpoint")]
    Path(String),
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The server could not be started.
#[derive(thiserror::Error)]
#[error("the server could not listen")]
pub struct ServeError {
    #[source]
    cause: io::Error,
}

impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}: {}", self.cause)
    }
}

impl From<io::Error> for ServeError {
    fn from(cause: io::Error) -> Self {
        Self { cause }
    }
}
