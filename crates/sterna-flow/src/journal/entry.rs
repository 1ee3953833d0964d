//! One line of a journal.

use std::fmt;

use bytes::Bytes;

use super::v1;
use super::{DecodeError, Limits};
use crate::fingerprint::Fingerprint;
use crate::key::Key;

/// One thing that happened in a flow, under the name it happened by.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    pub(crate) key: Key,
    pub(crate) kind: Kind,
    pub(crate) fingerprint: Option<Fingerprint>,
    pub(crate) value: Bytes,
    pub(crate) failed: bool,
    pub(crate) by_ref: bool,
    pub(crate) secret: bool,
}

impl Entry {
    pub(crate) fn new(key: Key, kind: Kind, value: Bytes) -> Self {
        Self {
            key,
            kind,
            fingerprint: None,
            value,
            failed: false,
            by_ref: false,
            secret: false,
        }
    }

    /// Reads an entry that [`to_bytes`](Self::to_bytes) wrote, in this release
    /// or an older one.
    ///
    /// # Errors
    ///
    /// See [`DecodeError`]: the bytes are not such an entry.
    pub fn from_bytes(bytes: Bytes, limits: &Limits) -> Result<Self, DecodeError> {
        v1::decode_entry(bytes, limits)
    }

    /// The entry as it is stored when each entry has a row of its own.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        v1::encode_entry(self)
    }

    /// The name it happened by; no other entry of the flow has it.
    #[must_use]
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// The kind of event.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The question that was answered, or the input a step worked on.
    #[must_use]
    pub const fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint
    }

    /// An answer as the client sent it, a result as JSON, a time, or nothing.
    #[must_use]
    pub const fn value(&self) -> &Bytes {
        &self.value
    }

    /// Returns whether the value is an error that ended a step.
    #[must_use]
    pub const fn failed(&self) -> bool {
        self.failed
    }

    /// Returns whether the value is only a reference to a blob.
    #[must_use]
    pub const fn by_ref(&self) -> bool {
        self.by_ref
    }

    /// Returns whether the author marked the value as secret.
    #[must_use]
    pub const fn secret(&self) -> bool {
        self.secret
    }
}

impl fmt::Debug for Entry {
    /// Names and sizes; values are answers and results, and stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.kind, self.key)?;
        if self.failed {
            f.write_str(" failed")?;
        }
        write!(f, " ({} bytes)", self.value.len())
    }
}

/// The kind of event that an [`Entry`] records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A client's answer to a question.
    Answer,
    /// A point that load shedding has passed.
    Checkpoint,
    /// Time ran out: a sleep ended, or a question's deadline came first.
    Elapsed,
    /// The result of a sub-flow whose own entries it replaces.
    Memo,
    /// The time that a handler was told.
    Now,
    /// The result of an effect that runs at most once.
    Once,
    /// The winner of a race.
    Race,
    /// An answer that did not fit its question; the value is the reason.
    Rejected,
    /// The result of a step.
    Step,
    /// When a sleep or a deadline will run out.
    Timer,
    /// A compensation that has run.
    Undo,
}
