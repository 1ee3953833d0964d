//! The failure of a step, as the journal records it.

use bytes::Bytes;

use crate::key::Key;

/// The failure of a step. A replay gets the same error again.
///
/// To act on more than the text, return the failure as a value: the result of a
/// step may itself be a `Result`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step `{key}` {}: {message}", kind.verb())]
#[non_exhaustive]
pub struct StepError {
    /// The step.
    pub key: Key,
    /// The kind of failure.
    pub kind: StepErrorKind,
    /// Error text of the body.
    pub message: String,
}

/// The kind of failure of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StepErrorKind {
    /// An effect that runs at most once was begun before, and its end is unknown: it
    /// may have happened.
    Ambiguous,
    /// Its body returned an error.
    Failed,
    /// It took longer than allowed.
    TimedOut,
}

impl StepErrorKind {
    const fn verb(self) -> &'static str {
        match self {
            Self::Ambiguous => "may have happened",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
        }
    }

    pub(super) fn encode(self, message: &str) -> Bytes {
        let kind = match self {
            Self::Failed => b'f',
            Self::TimedOut => b't',
            Self::Ambiguous => b'a',
        };
        let mut value = Vec::with_capacity(1 + message.len());
        value.push(kind);
        value.extend_from_slice(message.as_bytes());
        value.into()
    }
}

impl StepError {
    pub(super) fn decode(key: Key, value: &[u8]) -> Self {
        let (kind, message) = value.split_first().unwrap_or((&b'f', &[]));
        Self {
            key,
            kind: match kind {
                b't' => StepErrorKind::TimedOut,
                b'a' => StepErrorKind::Ambiguous,
                _ => StepErrorKind::Failed,
            },
            message: String::from_utf8_lossy(message).into_owned(),
        }
    }
}
