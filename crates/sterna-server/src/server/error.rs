use std::fmt;
use std::io;
use std::net::SocketAddr;

use crate::edge::ServeError;

/// What the author of a server must put right before it can start, or change.
#[derive(Debug)]
pub struct BuildError {
    what: &'static str,
    problems: Vec<String>,
}

impl BuildError {
    pub(super) fn new(problems: Vec<String>) -> Self {
        let what = "MR0200: the server cannot be built";
        Self { what, problems }
    }

    /// What is wrong with a change of a server that runs.
    pub(crate) fn of_edit(problems: Vec<String>) -> Self {
        let what = "MR0207: the server cannot be changed";
        Self { what, problems }
    }

    /// Every mistake that was found.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(String::as_str)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        for (at, problem) in self.problems.iter().enumerate() {
            let lead = if at == 0 { ": " } else { "; " };
            write!(f, "{lead}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildError {}

/// Why a server did not start, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("the address cannot be used")]
    Address(#[source] io::Error),
    /// The author must act.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The streams to the client broke.
    #[error("the streams to the client broke")]
    Lines(#[source] io::Error),
    /// Everybody could call, and nobody said that this is meant.
    #[error(
        "MR0206: {address} can be reached from elsewhere and everybody could call: \
         give the server a gate, `Gate::open()` if that is meant"
    )]
    NoGate {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// Another instance could not open what this one seals.
    #[error(
        "MR0205: {}the server has no keys but its own, which no other instance could open: \
         make a file with `sterna keys new keys.toml` and give it to the server with \
         `Server::shared_keys`",
        At(address)
    )]
    NoKeys {
        /// Where it was to listen, if that is known.
        address: Option<SocketAddr>,
    },
    /// The server could not listen.
    #[error("the server could not listen")]
    Serve(#[from] ServeError),
}

struct At<'a>(&'a Option<SocketAddr>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => write!(f, "{address} can be reached from elsewhere and "),
            None => Ok(()),
        }
    }
}
