//! Every way in which a call can fail.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use sterna_oauth::internal::printable;
use sterna_protocol::elicitation::AnswerError;
use sterna_protocol::jsonrpc::{DecodeError, ErrorCode, ErrorObject};
use thiserror::Error;

use super::{BoxError, ErrorKind};
use crate::schema::{SchemaMismatch, UnknownDialect};

/// One failure. Text in it that a peer has chosen went through [`printable`].
#[derive(Debug, Error)]
pub(crate) enum Fault {
    #[error("the arguments of the call are not a JSON object")]
    Arguments(#[source] Option<serde_json::Error>),
    #[error("authorization failed")]
    Auth(#[source] sterna_oauth::Error),
    #[error("the server sent an invalid response: {0}")]
    Broken(&'static str),
    #[error("the call was cancelled")]
    Cancelled,
    #[error("the server's process cannot be started")]
    Child(#[source] std::io::Error),
    #[error("the connection to the server is closed")]
    Closed,
    #[error("the connection of this paused call was used by an earlier `resume`")]
    ConnectionTaken,
    #[error("the server's process ended: {how}")]
    Died {
        /// Its exit code or signal, as the operating system says it.
        how: String,
        #[source]
        last_output: Option<LastOutput>,
    },
    #[error("the server's message cannot be read")]
    Decode(#[source] Unreadable),
    #[error("{what} cannot be used")]
    Dialect {
        what: String,
        #[source]
        source: UnknownDialect,
    },
    #[error("the handler for the question `{key}` failed")]
    Handler {
        key: String,
        #[source]
        source: BoxError,
    },
    #[error("the result does not fit the output schema of the tool `{tool}`")]
    SchemaMismatch {
        tool: String,
        #[source]
        source: SchemaMismatch,
    },
    #[error("the server's list never ends: {pages} pages")]
    EndlessList { pages: usize },
    #[error("the server asks `{key}` by {method}, and this client has no handler for it")]
    NoHandler { key: String, method: &'static str },
    #[error("the paused call is lost: {reason}; {outcome}")]
    Lost {
        reason: LostReason,
        outcome: LostOutcome,
    },
    #[error("only servers of 2025-11-25 list their tasks")]
    NoTaskList,
    #[error(
        "the server supports only the protocol versions {offered}, and this client supports none of them"
    )]
    NoVersion { offered: String },
    #[error(
        "the server supports only protocol versions before 2026-07-28, which this client was told not to use"
    )]
    NotModern,
    #[error("the paused call belongs to {expected}, not to {found}")]
    OtherServer { expected: String, found: String },
    #[error("the question `{key}` is not answered")]
    OpenQuestion { key: String },
    #[error("the server refused: {}", refusal(.error))]
    Refused {
        error: ErrorObject,
        status: Option<u16>,
    },
    #[error("after {limit} rounds the server still asks for more")]
    Rounds { limit: u32 },
    #[error("the server refused its request state: {}", printable(&.0.message))]
    State(ErrorObject),
    #[error("the server answered with HTTP status {status}")]
    Status {
        status: u16,
        retry_after: Option<Duration>,
    },
    #[error("the task was cancelled")]
    TaskCancelled,
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    #[error("TLS cannot be used on this machine")]
    Tls(#[source] BoxError),
    #[error("more than {limit} bytes of {what}")]
    TooLarge { what: &'static str, limit: usize },
    #[error("more than {limit} {what}")]
    TooMany { what: &'static str, limit: usize },
    #[error("the tool's parameter `{header}` cannot be sent in a header")]
    Unmirrorable { header: String },
    #[error("the answer to `{key}` does not fit the question")]
    InvalidAnswer {
        key: String,
        #[source]
        source: InvalidAnswer,
    },
    #[error("the server did not ask `{key}`")]
    UnknownQuestion { key: String },
    #[error("the server cannot be reached")]
    Unreachable(#[source] BoxError),
    #[error("a session of {0} does not support this request")]
    Unsupported(String),
    #[error("`{0}` is not the URL of a server: use http:// or https://")]
    Url(String),
}

/// The last lines that a server's process wrote to its standard error.
#[derive(Debug, Error)]
#[error("its last output was: {0}")]
pub(crate) struct LastOutput(pub(crate) String);

/// Reason why a paused call of an older server cannot be resumed.
#[derive(Debug, Error)]
pub(crate) enum LostReason {
    #[error("the server does not replay its question")]
    Event,
    #[error("the server now asks something else as `{0}`")]
    Question(String),
    #[error("the server does not have its session any more (HTTP status {0})")]
    Session(u16),
}

/// Effect that the answers to a lost call may have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LostOutcome {
    /// No answer was sent: the server has done nothing since its question.
    None,
    /// An answer was sent: whether the server has finished the call is unknown.
    Unknown,
}

impl fmt::Display for LostOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no answer was sent",
            Self::Unknown => "an answer was sent, and whether the call has finished is unknown",
        })
    }
}

/// Reason why an answer does not fit its question.
#[derive(Debug, Error)]
pub(crate) enum InvalidAnswer {
    #[error(transparent)]
    Form(#[from] AnswerError),
    #[error("the answer is of another kind than the question")]
    Kind,
    #[error("an accepted form has no content")]
    NoContent,
    #[error("a root must be a `file:` URI without `..`")]
    Root,
}

impl Fault {
    pub(super) fn kind(&self) -> ErrorKind {
        self.kind_and_code().0
    }

    pub(super) fn code(&self) -> &'static str {
        self.kind_and_code().1
    }

    /// Kind and code of the error; the code names a page of `docs/errors`.
    fn kind_and_code(&self) -> (ErrorKind, &'static str) {
        match self {
            Self::Child(_) | Self::Closed | Self::Unreachable(_) => {
                (ErrorKind::Unavailable, "MR0501")
            }
            Self::Died { .. } => (ErrorKind::Unavailable, "MR0520"),
            Self::Status { status, .. } if *status >= 500 || is_transient(*status) => {
                (ErrorKind::Unavailable, "MR0502")
            }
            Self::Status {
                status: 401 | 403, ..
            } => (ErrorKind::Auth, "MR0511"),
            Self::Status { .. } => (ErrorKind::Refused, "MR0502"),
            Self::Broken(_) | Self::Decode(_) | Self::EndlessList { .. } => {
                (ErrorKind::Peer, "MR0503")
            }
            Self::TooLarge { .. } | Self::TooMany { .. } => (ErrorKind::Peer, "MR0504"),
            Self::NoTaskList | Self::NoVersion { .. } | Self::NotModern | Self::Unsupported(_) => {
                (ErrorKind::Refused, "MR0505")
            }
            Self::Timeout(_) => (ErrorKind::Spent, "MR0506"),
            Self::Rounds { .. } => (ErrorKind::Spent, "MR0507"),
            Self::NoHandler { .. } => (ErrorKind::Answer, "MR0508"),
            Self::Handler { .. } | Self::InvalidAnswer { .. } => (ErrorKind::Answer, "MR0509"),
            Self::Refused {
                status: Some(401 | 403),
                ..
            } => (ErrorKind::Auth, "MR0511"),
            Self::Refused { .. } | Self::TaskCancelled => (ErrorKind::Refused, "MR0510"),
            Self::Auth(_) => (ErrorKind::Auth, "MR0511"),
            Self::Lost { .. } => (ErrorKind::Lost, "MR0518"),
            Self::Arguments(_)
            | Self::ConnectionTaken
            | Self::OpenQuestion { .. }
            | Self::OtherServer { .. }
            | Self::UnknownQuestion { .. }
            | Self::Unmirrorable { .. }
            | Self::Url(_) => (ErrorKind::Misuse, "MR0512"),
            Self::State(_) => (ErrorKind::RequestState, "MR0513"),
            Self::Cancelled => (ErrorKind::Answer, "MR0514"),
            Self::Tls(_) => (ErrorKind::Internal, "MR0515"),
            Self::SchemaMismatch { .. } => (ErrorKind::Peer, "MR0516"),
            Self::Dialect { .. } => (ErrorKind::Peer, "MR0517"),
        }
    }
}

/// The words of a refusal, with the capabilities that a client would have to
/// declare.
fn refusal(error: &ErrorObject) -> String {
    let words = printable(&error.message);
    let missing = missing_capabilities(error).unwrap_or_default();
    match missing.is_empty() {
        true => words,
        false => format!("{words}: {}", printable(&missing.join(", "))),
    }
}

/// The capabilities that the client did not declare and the server requires;
/// `None` if it refused for another reason.
pub(crate) fn missing_capabilities(error: &ErrorObject) -> Option<Vec<String>> {
    if error.code != ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY {
        return None;
    }
    let required = error.data.as_ref()?.get("requiredCapabilities")?;
    let mut names = Vec::new();
    for (name, value) in required.as_object()? {
        match (name.as_str(), value.as_object()) {
            ("extensions", Some(extensions)) => names.extend(extensions.keys().cloned()),
            _ => names.push(name.clone()),
        }
    }
    Some(names)
}

/// Returns true for a status below 500 after which a retry may succeed.
pub(crate) fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 425 | 429)
}

/// Decoding error of a server's message, with its position.
///
/// The decoder's own words may quote the message, and with it a prompt or a
/// state (SAMP-B4): of them nothing is kept but the name of a missing field.
#[derive(Debug, Error)]
pub(crate) struct Unreadable {
    what: String,
    why: String,
}

impl From<DecodeError> for Unreadable {
    fn from(error: DecodeError) -> Self {
        let cause = error
            .source()
            .and_then(|cause| cause.downcast_ref::<serde_json::Error>());
        let why = cause.map(|cause| {
            let told = cause.to_string();
            match told.starts_with("missing field `") {
                true => format!(": {}", printable(&told)),
                false => format!(" at line {} column {}", cause.line(), cause.column()),
            }
        });
        Self {
            what: printable(&error.to_string()),
            why: why.unwrap_or_default(),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what, self.why)
    }
}
