//! Every way in which a call can fail.

use std::time::Duration;

use sterna_protocol::elicitation::AnswerError;
use sterna_protocol::jsonrpc::ErrorObject;
use thiserror::Error;

use super::unreadable::Unreadable;
use super::{BoxError, ErrorKind};
use crate::oauth;
use crate::schema::{Misfit, UnknownDialect};

/// One failure. Text in it that a peer has chosen went through [`printable`].
#[derive(Debug, Error)]
pub(crate) enum Fault {
    #[error("the arguments of the call are not a JSON object")]
    Arguments(#[source] Option<serde_json::Error>),
    #[error("authorization did not succeed")]
    Auth(#[source] oauth::Error),
    #[error("the server sent something that is no answer: {0}")]
    Broken(&'static str),
    #[error("the call was cancelled")]
    Cancelled,
    #[error("the server's process cannot be started")]
    Child(#[source] std::io::Error),
    #[error("the connection to the server is closed")]
    Closed,
    #[error("the server's message cannot be read")]
    Decode(#[source] Unreadable),
    #[error("{what} cannot be applied")]
    Dialect {
        what: String,
        #[source]
        source: UnknownDialect,
    },
    #[error("whoever answers `{key}` failed")]
    Handler {
        key: String,
        #[source]
        source: BoxError,
    },
    #[error("the result is not what the tool `{tool}` promised")]
    Misfit {
        tool: String,
        #[source]
        source: Misfit,
    },
    #[error("the server's list never ends: {pages} pages")]
    EndlessList { pages: usize },
    #[error("the server asks `{key}` by {method}, and nobody here answers that")]
    NoHandler { key: String, method: &'static str },
    #[error("only servers of 2025-11-25 list their tasks")]
    NoTaskList,
    #[error("the server speaks {offered}, none of which this client does")]
    NoVersion { offered: String },
    #[error("the server speaks only revisions before 2026-07-28, and those were ruled out")]
    NotModern,
    #[error("the paused call belongs to {expected}, not to {found}")]
    OtherServer { expected: String, found: String },
    #[error("the question `{key}` is not answered")]
    OpenQuestion { key: String },
    #[error("the server refused: {}", printable(&.error.message))]
    Refused {
        error: ErrorObject,
        status: Option<u16>,
    },
    #[error("after {limit} rounds the server still asks for more")]
    Rounds { limit: u32 },
    #[error("the server does not take its request state back: {}", printable(&.0.message))]
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
    #[error("the tool's parameter `{header}` has no form in a header")]
    Unmirrorable { header: String },
    #[error("the answer to `{key}` does not fit the question")]
    Unfit {
        key: String,
        #[source]
        source: Unfit,
    },
    #[error("the server did not ask `{key}`")]
    UnknownQuestion { key: String },
    #[error("the server cannot be reached")]
    Unreachable(#[source] BoxError),
    #[error("a session of {0} cannot do that")]
    Unsupported(String),
    #[error("`{0}` is not the URL of a server")]
    Url(String),
}

/// Why an answer does not fit.
#[derive(Debug, Error)]
pub(crate) enum Unfit {
    #[error(transparent)]
    Form(#[from] AnswerError),
    #[error("it answers another kind of question")]
    Kind,
    #[error("an accepted form has no content")]
    NoContent,
    #[error("a root is no file URI, or climbs out of itself")]
    Root,
}

impl Fault {
    pub(super) fn kind(&self) -> ErrorKind {
        self.place().0
    }

    pub(super) fn code(&self) -> &'static str {
        self.place().1
    }

    /// Who must act, and which page says how.
    fn place(&self) -> (ErrorKind, &'static str) {
        match self {
            Self::Child(_) | Self::Closed | Self::Unreachable(_) => {
                (ErrorKind::Unavailable, "MR0501")
            }
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
            Self::TooLarge { .. } => (ErrorKind::Peer, "MR0504"),
            Self::NoTaskList | Self::NoVersion { .. } | Self::NotModern | Self::Unsupported(_) => {
                (ErrorKind::Refused, "MR0505")
            }
            Self::Timeout(_) => (ErrorKind::Spent, "MR0506"),
            Self::Rounds { .. } => (ErrorKind::Spent, "MR0507"),
            Self::NoHandler { .. } => (ErrorKind::Answer, "MR0508"),
            Self::Handler { .. } | Self::Unfit { .. } => (ErrorKind::Answer, "MR0509"),
            Self::Refused {
                status: Some(401 | 403),
                ..
            } => (ErrorKind::Auth, "MR0511"),
            Self::Refused { .. } | Self::TaskCancelled => (ErrorKind::Refused, "MR0510"),
            Self::Auth(_) => (ErrorKind::Auth, "MR0511"),
            Self::Arguments(_)
            | Self::OpenQuestion { .. }
            | Self::OtherServer { .. }
            | Self::UnknownQuestion { .. }
            | Self::Unmirrorable { .. }
            | Self::Url(_) => (ErrorKind::Misuse, "MR0512"),
            Self::State(_) => (ErrorKind::RequestState, "MR0513"),
            Self::Cancelled => (ErrorKind::Answer, "MR0514"),
            Self::Tls(_) => (ErrorKind::Internal, "MR0515"),
            Self::Misfit { .. } => (ErrorKind::Peer, "MR0516"),
            Self::Dialect { .. } => (ErrorKind::Peer, "MR0517"),
        }
    }
}

/// Whether a status below 500 says "later" rather than "no".
pub(crate) fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 425 | 429)
}

/// A peer's text, short and without anything that could steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    const LONGEST: usize = 200;
    let clean = text.chars().take(LONGEST);
    clean
        .map(|each| if each.is_control() { '\u{fffd}' } else { each })
        .collect()
}
