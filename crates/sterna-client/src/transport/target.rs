//! Targets that a client can connect to.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

use super::Command;

/// Target of a connection: a URL, a program, or a pair of streams.
#[derive(Debug)]
pub struct Target(pub(crate) Endpoint);

#[derive(Debug)]
pub(crate) enum Endpoint {
    Child(Command),
    Duplex(Duplex),
    Url(String),
}

impl From<&str> for Target {
    fn from(url: &str) -> Self {
        Self(Endpoint::Url(url.to_owned()))
    }
}

impl From<String> for Target {
    fn from(url: String) -> Self {
        Self(Endpoint::Url(url))
    }
}

impl From<&String> for Target {
    fn from(url: &String) -> Self {
        Self(Endpoint::Url(url.clone()))
    }
}

impl From<Command> for Target {
    fn from(command: Command) -> Self {
        Self(Endpoint::Child(command))
    }
}

impl From<Duplex> for Target {
    fn from(duplex: Duplex) -> Self {
        Self(Endpoint::Duplex(duplex))
    }
}

/// A server at the other end of two byte streams: a socket, a pipe, or memory.
///
/// Messages are lines, as on standard streams.
pub struct Duplex {
    pub(crate) endpoint: String,
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Duplex {
    /// Reads answers from `reader` and writes requests to `writer`; `endpoint` is
    /// what to call the server in questions and errors.
    pub fn new(
        endpoint: impl Into<String>,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            endpoint: endpoint.into(),
            reader: Box::new(reader),
            writer: Box::new(writer),
        }
    }
}

impl fmt::Debug for Duplex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Duplex")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
