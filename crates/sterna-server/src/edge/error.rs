//! What can be wrong with how the edge was set up, or with running it.

use std::io;

/// The configuration cannot be used; correct it and start again.
#[derive(Debug, thiserror::Error)]
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

/// The server could not be started.
#[derive(Debug, thiserror::Error)]
#[error("the server could not listen")]
pub struct ServeError {
    #[source]
    cause: io::Error,
}

impl From<io::Error> for ServeError {
    fn from(cause: io::Error) -> Self {
        Self { cause }
    }
}
