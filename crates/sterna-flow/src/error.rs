//! Errors that stop a run.

use std::fmt;
use std::panic::Location;

use crate::backends::BackendError;
use crate::journal::Kind;
use crate::key::Key;

/// The reason the engine stopped a run that the handler did not end.
///
/// The text is for the operator's log; it may hold names that a handler chose and
/// the message of a panic. A peer gets none of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A context was used inside the body of a step.
    #[error("{code}: `{used}` was used inside the step `{step}`", code = self.code())]
    CxInsideStep {
        /// The step whose body was running.
        step: Key,
        /// The operation that its body tried to use.
        used: Key,
    },
    /// Two things of one name were in progress at the same time.
    #[error("{code}: `{key}` is in progress twice, from {first} and from {second}", code = self.code())]
    DuplicateKey {
        /// The name both have.
        key: Key,
        /// Source location of the first.
        first: &'static Location<'static>,
        /// Source location of the second.
        second: &'static Location<'static>,
    },
    /// The input of a step differs from the one its result was made from.
    #[error("{code}: the input of the step `{key}` has changed since it ran", code = self.code())]
    InputChanged {
        /// The step.
        key: Key,
    },
    /// A name that is empty or too long.
    #[error("{code}: `{key}` is not a valid name: it must have 1 to {limit} bytes", code = self.code())]
    InvalidKey {
        /// The key as it was given.
        key: Key,
        /// The longest key allowed.
        limit: usize,
    },
    /// The journal has something else under that name.
    #[error("{code}: `{key}` was recorded as {found:?} and is used as {wanted:?}", code = self.code())]
    KindChanged {
        /// The name.
        key: Key,
        /// The kind in the journal.
        found: Kind,
        /// The kind that the handler wants.
        wanted: Kind,
    },
    /// A step needs a blob store, and none is configured.
    #[error("{code}: the result of `{key}` goes to a blob store, and none is configured", code = self.code())]
    NoBlobs {
        /// The step.
        key: Key,
    },
    /// An effect that runs at most once needs a ledger, and none is configured.
    #[error("{code}: `{key}` runs at most once, which needs a ledger, and none is configured: a server has one when it is given a store", code = self.code())]
    NoLedger {
        /// The effect.
        key: Key,
    },
    /// An effect was begun under other answers than this run was given.
    #[error("{code}: `{key}` was begun under other answers; its result belongs to those", code = self.code())]
    OtherAnswers {
        /// The effect.
        key: Key,
    },
    /// The handler panicked.
    #[error("{code}: the handler panicked{}: {message}", InStep(step), code = self.code())]
    Panicked {
        /// The step that was running, if one was.
        step: Option<Key>,
        /// The message of the panic.
        message: String,
    },
    /// A plug point did not do its work.
    #[error("{code}: `{key}` could not be {action}", code = self.code())]
    Plug {
        /// The operation that needed it.
        key: Key,
        /// The action of the backend.
        action: BackendAction,
        /// The error of the backend.
        source: BackendError,
    },
    /// The flow has been back at the client as often as it may.
    #[error("{code}: the flow asks again after all its {rounds} rounds", code = self.code())]
    RoundsExhausted {
        /// Number of rounds allowed.
        rounds: u32,
    },
    /// A sleep that no request can be held open for.
    #[error("{code}: `{key}` sleeps too long for a request; run the handler as a task", code = self.code())]
    SleepTooLong {
        /// The sleep.
        key: Key,
    },
    /// The handler waits for something that can never happen.
    #[error("{code}: the handler waits, and nothing is left that could wake it", code = self.code())]
    Stalled,
    /// The journal was written for another version of the handler's state.
    #[error("{code}: the journal has state version {found}, this build has {expected}", code = self.code())]
    StateVersion {
        /// The version of the journal.
        found: u32,
        /// The version of this build.
        expected: u32,
    },
    /// The journal is full.
    #[error("{code}: no room for `{key}`: the journal has {limit} entries", code = self.code())]
    TooManyEntries {
        /// The key of the entry that did not fit.
        key: Key,
        /// Largest number of entries.
        limit: usize,
    },
    /// A step failed in a way that its author called transient.
    #[error("{code}: the step `{key}` failed for now: {message}", code = self.code())]
    Transient {
        /// The step.
        key: Key,
        /// Its text.
        message: String,
    },
    /// A compensation was registered inside a memo.
    #[error("{code}: `{key}` was registered inside a memo, which a replay does not enter", code = self.code())]
    UndoInMemo {
        /// The compensation.
        key: Key,
    },
    /// A recorded result is not of the type that the handler wants.
    #[error("{code}: the recorded result of `{key}` cannot be read: {message}", code = self.code())]
    Unreadable {
        /// The step.
        key: Key,
        /// The message of the decoder.
        message: String,
    },
    /// A result that cannot be recorded.
    #[error("{code}: the result of `{key}` cannot be recorded: {message}", code = self.code())]
    Unrecordable {
        /// The step.
        key: Key,
        /// The reason.
        message: String,
    },
    /// A result that is too large for a journal.
    #[error("{code}: the result of `{key}` has {size} bytes, {limit} are allowed", code = self.code())]
    ValueTooLarge {
        /// The step.
        key: Key,
        /// Its size in bytes.
        size: usize,
        /// Largest size in bytes.
        limit: usize,
    },
}

impl Error {
    /// The code under which the error is documented.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Panicked { .. } => "MR0100",
            Self::Unreadable { .. } => "MR0101",
            Self::KindChanged { .. } => "MR0102",
            Self::DuplicateKey { .. } => "MR0103",
            Self::CxInsideStep { .. } => "MR0104",
            Self::RoundsExhausted { .. } => "MR0105",
            Self::InputChanged { .. } => "MR0106",
            Self::ValueTooLarge { .. } => "MR0107",
            Self::TooManyEntries { .. } => "MR0108",
            Self::SleepTooLong { .. } => "MR0109",
            Self::NoLedger { .. } => "MR0110",
            Self::NoBlobs { .. } => "MR0111",
            Self::StateVersion { .. } => "MR0112",
            Self::UndoInMemo { .. } => "MR0113",
            Self::Stalled => "MR0114",
            Self::InvalidKey { .. } => "MR0115",
            Self::Plug { .. } => "MR0116",
            Self::Transient { .. } => "MR0117",
            Self::Unrecordable { .. } => "MR0118",
            Self::OtherAnswers { .. } => "MR0420",
        }
    }
}

/// An action of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackendAction {
    /// [`Ledger::claim`](crate::Ledger::claim).
    Claim,
    /// [`Blobs::get`](crate::Blobs::get).
    Fetch,
    /// [`JournalSink::append`](crate::JournalSink::append).
    Record,
    /// [`Blobs::put`](crate::Blobs::put).
    Store,
}

impl fmt::Display for BackendAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Claim => "claimed",
            Self::Fetch => "fetched",
            Self::Record => "recorded",
            Self::Store => "stored",
        })
    }
}

/// Says in which step something happened, if in one.
struct InStep<'a>(&'a Option<Key>);

impl fmt::Display for InStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(step) => write!(f, " inside the step `{step}`"),
            None => Ok(()),
        }
    }
}
