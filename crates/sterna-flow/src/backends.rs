//! Small traits for the services that the engine needs.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use sterna_types::FlowId;

use crate::journal::Entry;
use crate::key::Key;

/// The future of a backend's call. It owns all it needs, so that the engine can
/// keep it while the handler runs on.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Plug point: makes entries durable before the handler sees them.
///
/// A task has one; round trips have none, since their journal travels with the
/// response. The handler learns of a result only after `append` has returned,
/// so no crash can contradict its later actions.
pub trait JournalSink: Send + Sync {
    /// Stores `entries` in this order, all or none.
    fn append(&self, entries: Vec<Entry>) -> BoxFuture<Result<(), BackendError>>;
}

/// Plug point: remembers which effects have been claimed, across all replicas.
pub trait Ledger: Send + Sync {
    /// Claims an effect for the caller, unless it was claimed before.
    ///
    /// `answers` is kept with the claim and returned to later claims. It holds
    /// digests of the answers that the handler had been given.
    fn claim(
        &self,
        flow: &FlowId,
        key: &Key,
        answers: Bytes,
    ) -> BoxFuture<Result<Claim, BackendError>>;

    /// Stores the result of an effect that the caller has claimed.
    fn settle(
        &self,
        flow: &FlowId,
        key: &Key,
        result: Bytes,
    ) -> BoxFuture<Result<(), BackendError>>;
}

/// The state of an effect in a [`Ledger`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// It has run.
    Done {
        /// The result that [`Ledger::settle`] stored.
        result: Bytes,
        /// The answers that its claim was made with. Empty if a release that
        /// kept none made it.
        answers: Bytes,
    },
    /// It belongs to this caller, and no other caller will ever run it.
    Fresh,
    /// It was claimed, and its result is unknown.
    Taken {
        /// The answers that its claim was made with. Empty if a release that
        /// kept none made it.
        answers: Bytes,
    },
}

/// Plug point: keeps results that are too large for a journal.
pub trait Blobs: Send + Sync {
    /// Stores `value` at least as long as the flow may live, and returns a short
    /// reference to it.
    fn put(&self, flow: &FlowId, key: &Key, value: Bytes)
    -> BoxFuture<Result<Bytes, BackendError>>;

    /// Fetches the value that `put` stored.
    fn get(&self, reference: Bytes) -> BoxFuture<Result<Bytes, BackendError>>;
}

/// Plug point: receives the progress and the log of a running handler.
///
/// Called only for new reports: a replay repeats none.
/// Must return at once, since the handler waits for it.
pub trait Listener: Send + Sync {
    /// Work has come this far.
    fn progress(&self, progress: Progress);

    /// The handler has something to say.
    fn log(&self, level: Level, message: &str);
}

/// The progress of a handler.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Amount of work done; never decreases.
    pub done: f64,
    /// Total amount of work, if known.
    pub total: Option<f64>,
    /// Message for a person.
    pub message: Option<String>,
}

impl Progress {
    /// `done` of an unknown total.
    #[must_use]
    pub const fn new(done: f64) -> Self {
        Self {
            done,
            total: None,
            message: None,
        }
    }

    /// Adds the total amount of work.
    #[must_use]
    pub const fn of(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Adds a message about the current work.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

/// The severity of a log message, in the words of MCP (RFC 5424).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Details for finding a fault.
    Debug,
    /// Normal operation.
    Info,
    /// Normal but worth a note.
    Notice,
    /// Something that may become a fault.
    Warning,
    /// Something did not work.
    Error,
    /// A part of the system does not work.
    Critical,
    /// An operator must act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

/// The reason a backend could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// Another worker has taken the flow over: this one must not write again.
    #[error("another worker has taken the flow over")]
    FenceLost,
    /// There is nothing under that reference, or not any more.
    #[error("nothing is stored under that reference")]
    Missing,
    /// It may work later.
    #[error("not available")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

impl fmt::Debug for dyn JournalSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JournalSink")
    }
}
