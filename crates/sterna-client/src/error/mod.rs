//! Errors of calls: the reason, the party that must act, and a code.

mod fault;

use std::fmt;
use std::time::Duration;

use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};

pub use fault::LostOutcome;
pub(crate) use fault::{Fault, InvalidAnswer, LastOutput, LostReason, is_transient};
pub use sterna_oauth::BoxError;
pub(crate) use sterna_oauth::internal::printable;

/// A call did not succeed.
///
/// Its text says what happened and ends with a code (`MR0507`) that has a page
/// in `docs/errors`. It never holds an argument, an answer, a token or a
/// request state.
pub struct Error {
    fault: Box<Fault>,
}

impl Error {
    /// Says who must act.
    pub fn kind(&self) -> ErrorKind {
        self.fault.kind()
    }

    /// The code of the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        self.fault.code()
    }

    /// The server's own words, if it refused with a JSON-RPC error.
    pub fn rpc(&self) -> Option<&ErrorObject> {
        match &*self.fault {
            Fault::Refused { error, .. } | Fault::State(error) => Some(error),
            _ => None,
        }
    }

    /// The capabilities that the server requires and this client did not
    /// declare, by name; empty if that is not why it refused.
    pub fn missing_capabilities(&self) -> Vec<String> {
        let refusal = self.rpc();
        let missing = refusal.and_then(fault::missing_capabilities);
        missing.unwrap_or_default()
    }

    /// Returns true if the server said that there is no such resource. Only for
    /// [`Client::read`](crate::Client::read): on other requests the same codes
    /// mean something else.
    pub fn is_resource_not_found(&self) -> bool {
        // BASE-C5: the code of earlier revisions, which some servers still send.
        const EARLIER: ErrorCode = ErrorCode(-32002);
        let code = self.rpc().map(|error| error.code);
        code.is_some_and(|code| code == ErrorCode::INVALID_PARAMS || code == EARLIER)
    }

    /// The HTTP status, if the server gave one and no MCP answer.
    pub fn status(&self) -> Option<u16> {
        match &*self.fault {
            Fault::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Time that the server asks to wait before the next try.
    pub fn retry_after(&self) -> Option<Duration> {
        match &*self.fault {
            Fault::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Effect that answers may have had, if a paused call of an older server is
    /// lost.
    pub fn lost(&self) -> Option<LostOutcome> {
        match &*self.fault {
            Fault::Lost { outcome, .. } => Some(*outcome),
            _ => None,
        }
    }

    /// The question that could not be answered, by its key.
    pub fn question(&self) -> Option<&str> {
        match &*self.fault {
            Fault::Handler { key, .. }
            | Fault::NoHandler { key, .. }
            | Fault::InvalidAnswer { key, .. }
            | Fault::UnknownQuestion { key } => Some(key),
            _ => None,
        }
    }

    pub(crate) fn fault(&self) -> &Fault {
        &self.fault
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self {
            fault: Box::new(fault),
        }
    }
}

impl From<sterna_oauth::Error> for Error {
    fn from(error: sterna_oauth::Error) -> Self {
        Fault::Auth(error).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.fault, self.code())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("code", &self.code())
            .field("fault", &self.fault)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&*self.fault)
    }
}

/// Party that must act on an [`Error`].
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A question of the server was not answered, or not as it asked.
    Answer,
    /// There is no valid authorization; [`oauth::Error`](sterna_oauth::Error) is the source.
    Auth,
    /// Something broke on this machine.
    Internal,
    /// The server no longer has a paused call: start the call over, with an eye on
    /// [`Error::lost`].
    Lost,
    /// The application has called this crate wrongly.
    Misuse,
    /// The server broke the protocol; calling again is useless.
    Peer,
    /// The server understood the request and said no.
    Refused,
    /// The server does not take its request state back: start the call over.
    RequestState,
    /// Too much time passed, or too many rounds.
    Spent,
    /// The server cannot be reached or is out of order; try again later.
    Unavailable,
}
