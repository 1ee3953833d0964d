use std::fmt;
use std::io;
use std::net::SocketAddr;

use sterna_http::ServeError;

/// Mistakes that the author of a server must correct before it can start, or
/// change.
///
/// Its `Debug` lists every mistake on a line of its own, so that a `main` that
/// returns it says what to do.
pub struct BuildError {
    what: &'static str,
    problems: Vec<String>,
}

impl BuildError {
    pub(super) fn new(problems: Vec<String>) -> Self {
        let what = "MR0200: the server cannot be built";
        Self { what, problems }
    }

    /// Mistakes in a change of a running server.
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

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = &*self.problems {
            return write!(f, "{}: {problem}", self.what);
        }
        f.write_str(self.what)?;
        let mut problems = self.problems.iter();
        problems.try_for_each(|problem| write!(f, "\n  - {problem}"))
    }
}

impl std::error::Error for BuildError {}

/// Reason that a server did not start, and what to do about it.
///
/// Its `Debug` is its text with all causes, so that a `main` that returns it
/// says what to do.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("the address cannot be used, {}", other_address(.0.kind()))]
    Address(#[source] io::Error),
    /// The author must act.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The streams to the client broke.
    #[error("the streams to the client broke")]
    Lines(#[source] io::Error),
    /// The server can be reached from elsewhere, or is mounted where that is
    /// not known, and does not say who may call.
    #[error(
        "MR0206: {} and the server does not say who its callers are: {}\
         authenticate them with `Server::gate(Gate::guarded(..))`, \
         or write `Server::anonymous()` if every caller is to be the same anonymous one",
        Reached(address),
        FromApplication(address)
    )]
    NoGate {
        /// Address to listen on; `None` for a mounted service.
        address: Option<SocketAddr>,
    },
    /// Another instance could not open what this one seals.
    #[error(
        "MR0205: {} and the server has no keys but its own, which no other instance has: \
         make a file with `sterna keys new keys.toml` and give it to the server with \
         `Server::key_file(\"keys.toml\")`",
        Reached(address)
    )]
    NoKeys {
        /// Address to listen on, if it is known.
        address: Option<SocketAddr>,
    },
    /// The server could not listen.
    #[error("the server could not listen")]
    Serve(#[from] ServeError),
}

impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(cause) | Self::Lines(cause) => write!(f, "{self}: {cause}"),
            Self::Build(error) => error.fmt(f),
            Self::Serve(error) => error.fmt(f),
            Self::NoGate { .. } | Self::NoKeys { .. } => fmt::Display::fmt(self, f),
        }
    }
}

/// Advice for an address that cannot be listened on.
const fn other_address(problem: io::ErrorKind) -> &'static str {
    match problem {
        io::ErrorKind::AddrInUse => "stop the program that listens there or choose another port",
        io::ErrorKind::AddrNotAvailable => {
            "choose an address of this machine, such as 127.0.0.1:8080"
        }
        io::ErrorKind::InvalidInput => "write host:port, such as 127.0.0.1:8080",
        io::ErrorKind::PermissionDenied => "choose a port above 1023",
        _ => "choose another, such as 127.0.0.1:8080",
    }
}

/// Origin of the callers.
struct Reached<'a>(&'a Option<SocketAddr>);

impl fmt::Display for Reached<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => write!(f, "{address} can be reached from elsewhere"),
            None => f.write_str("a mounted service may be reached from elsewhere"),
        }
    }
}

/// The remedy that only a mounted service has.
struct FromApplication<'a>(&'a Option<SocketAddr>);

impl fmt::Display for FromApplication<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(_) => Ok(()),
            None => f.write_str(
                "take them from the application's middleware with \
                 `Server::callers_from_extension(|user: &User| Principal::named(\"app\", &user.id))`, ",
            ),
        }
    }
}
