//! Exit codes, and the errors that choose them.

use std::fmt;
use std::process::ExitCode;

/// Exit code of the command. The numbers are frozen: scripts depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Done = 0,
    /// It failed.
    Failed = 1,
    /// It was not called the way it can be called.
    Usage = 2,
    /// The tool, or the HTTP API, returned an error.
    ToolError = 3,
    /// The call waits for input, and there was none.
    InputRequired = 4,
    /// The user declined or cancelled.
    Declined = 5,
    /// The server wants to know who is calling.
    Unauthorized = 6,
    /// The server cannot be reached, or speaks no version that we speak.
    Unreachable = 7,
    /// It took longer than `--timeout`.
    TimedOut = 124,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that ends the command, and what the user can do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Ends with `exit`, because of `error`.
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            error: error.into(),
            hint: None,
        }
    }

    /// Ends because of what was typed.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, anyhow::anyhow!("{message}"))
    }

    /// Adds a line that says what to do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(Exit::Failed, error)
    }
}
