//! Warnings to the author of a handler, in a run that went on.

use std::fmt;
use std::panic::Location;

use crate::journal::Kind;
use crate::key::Key;

/// Something an author should know although the run went on. For the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Diagnostic {
    /// Dropping the suspended handler panicked.
    DropPanicked {
        /// The message of the panic.
        message: String,
    },
    /// An effect ran before the first question: if the response is lost, the
    /// client calls again from the start and the effect happens twice.
    EffectBeforeQuestion {
        /// The effect.
        key: Key,
        /// Location in the source.
        at: &'static Location<'static>,
    },
    /// A question had to wait for an await that is not the engine's.
    ForeignAwait {
        /// The question.
        key: Key,
        /// Location in the source.
        at: &'static Location<'static>,
    },
    /// The flow ended without asking for something it had done.
    Orphan {
        /// The key of the operation.
        key: Key,
        /// The kind of the operation.
        kind: Kind,
    },
    /// A question changed between two rounds although nothing else did.
    QuestionChanged {
        /// The question.
        key: Key,
        /// Location in the source.
        at: &'static Location<'static>,
    },
    /// An effect has run, and its result did not reach the ledger.
    ResultNotSettled {
        /// The effect.
        key: Key,
        /// The reason.
        message: String,
    },
    /// A compensation did not work.
    UndoFailed {
        /// The compensation.
        key: Key,
        /// Its text.
        message: String,
    },
}

impl Diagnostic {
    /// The code under which the diagnostic is documented.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ForeignAwait { .. } => "MR0130",
            Self::QuestionChanged { .. } => "MR0131",
            Self::EffectBeforeQuestion { .. } => "MR0132",
            Self::Orphan { .. } => "MR0133",
            Self::UndoFailed { .. } => "MR0134",
            Self::ResultNotSettled { .. } => "MR0135",
            Self::DropPanicked { .. } => "MR0136",
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code())?;
        match self {
            Self::DropPanicked { message } => {
                write!(f, "dropping the suspended handler panicked: {message}")
            }
            Self::EffectBeforeQuestion { key, at } => {
                write!(
                    f,
                    "the effect `{key}` at {at} ran before the first question"
                )
            }
            Self::ForeignAwait { key, at } => write!(
                f,
                "the question `{key}` at {at} waited for something that is not a step"
            ),
            Self::Orphan { key, kind } => {
                write!(f, "{kind:?} `{key}` was recorded and not asked for again")
            }
            Self::QuestionChanged { key, at } => write!(
                f,
                "the question `{key}` at {at} changed between two rounds though nothing else did"
            ),
            Self::ResultNotSettled { key, message } => {
                write!(
                    f,
                    "the result of `{key}` did not reach the ledger: {message}"
                )
            }
            Self::UndoFailed { key, message } => {
                write!(f, "the compensation `{key}` did not work: {message}")
            }
        }
    }
}
