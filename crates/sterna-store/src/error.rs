//! The error of a store, with the party that can act on it.

use std::borrow::Cow;
use std::error::Error as _;
use std::fmt;
use std::pin::Pin;

use thiserror::Error as ThisError;

/// A call of a store failed.
///
/// Nothing of the request has happened, except that after
/// [`ErrorKind::Unavailable`] it may have: every method can be called again
/// with the same arguments.
///
/// Its `Debug` is its text with its code and all causes, so that a `main` that
/// returns it says what to do.
#[derive(ThisError)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    code: Option<&'static str>,
    message: Cow<'static, str>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Makes an error, for authors of stores.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            code: None,
            message: message.into(),
            source: None,
        }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: Some(source.into()),
            ..self
        }
    }

    /// Adds the code of the page that tells an operator what to do.
    #[must_use]
    pub fn with_code(self, code: &'static str) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    /// The page in `docs/errors` that tells an operator what to do, if an
    /// operator can do something.
    pub fn code(&self) -> Option<&'static str> {
        self.code
    }

    /// Kind of the error: it says who must act. The text is for people and may change.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(code) = self.code {
            write!(f, "{code}: ")?;
        }
        write!(f, "{self}")?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// The party that can act on an [`struct@Error`], and the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller wrote something else under this id or key before. What was
    /// written first stands.
    Conflict,
    /// An operator restores a backup: the stored data cannot be read.
    Corrupt,
    /// An operator grants access: credentials, permissions or a read-only file.
    Denied,
    /// The worker stops at once and throws its work away: another worker holds the
    /// lease or the round.
    Fenced,
    /// An operator makes room: the disk or a configured limit is exhausted.
    Full,
    /// An operator upgrades or migrates: the schema is not the one this
    /// program knows.
    Incompatible,
    /// The authors of the store: this is a defect.
    Internal,
    /// The calling program is corrected: its request has no meaning.
    Misuse,
    /// The owner of the tasks waits for some to end: too many have not.
    Quota,
    /// No action is needed: try again in a moment. The call may have taken effect.
    Unavailable,
}

/// Boxed future of a store's call, so that the traits work as `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_main_that_returns_the_error_prints_its_text_and_all_causes() {
        let disk = std::io::Error::other("the disk is full");
        let error = Error::new(ErrorKind::Full, "no room").because(disk);
        assert_eq!(format!("{error:?}"), "no room: the disk is full");
        let error = Error::new(ErrorKind::Denied, "no access").because(error);
        assert_eq!(
            format!("{:?}", error.with_code("MR0705")),
            "MR0705: no access: no room: the disk is full"
        );
    }

    #[test]
    fn an_error_keeps_its_cause_and_its_page() {
        let error = Error::new(ErrorKind::Full, "no room");
        assert_eq!((error.code(), error.source().is_some()), (None, false));
        let error = error.because("the disk is full").with_code("MR0100");
        assert_eq!(error.code(), Some("MR0100"));
        assert_eq!(error.source().unwrap().to_string(), "the disk is full");
        assert_eq!(error.kind(), ErrorKind::Full);
    }
}
