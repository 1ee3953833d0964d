//! What a client can connect to.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

use super::Command;

/// Where a server is: a URL, a program, or a pair of streams.
#[derive(Debug)]
pub struct Target(pub(crate) Place);

#[derive(Debug)]
pub(crate) enum Place {
    Child(Command),
    Duplex(Duplex),
    Url(String),
}

impl From<&str> for Target {
    fn from(url: &str) -> Self {
        Self(Place::Url(url.to_owned()))
    }
}

impl From<String> for Target {
    fn from(url: String) -> Self {
        Self(Place::Url(url))
    }
}

impl From<&String> for Target {
    fn from(url: &String) -> Self {
        Self(Place::Url(url.clone()))
    }
}

impl From<Command> for Target {
    fn from(command: Command) -> Self {
        Self(Place::Child(command))
    }
}

impl From<Duplex> for Target {
    fn from(duplex: Duplex) -> Self {
        Self(Place::Duplex(duplex))
    }
}

/// A server at the other end of two byte streams: a socket, a pipe, or memory.
///
/// Messages are lines, as on standard streams.
pub struct Duplex {
    pub(crate) place: String,
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Duplex {
    /// Reads answers from `reader` and writes requests to `writer`; `place` is
    /// what to call the server in questions and errors.
    pub fn new(
        place: impl Into<String>,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            place: place.into(),
            reader: Box::new(reader),
            writer: Box::new(writer),
        }
    }
}

impl fmt::Debug for Duplex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Duplex")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
