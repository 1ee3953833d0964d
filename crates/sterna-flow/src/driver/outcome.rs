//! The results of a run.

use std::panic::Location;

use bytes::Bytes;
use sterna_types::UnixMillis;

use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::journal::Journal;
use crate::key::Key;

/// The result of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome<T, E> {
    /// The flow was cancelled; its compensations have run.
    Cancelled,
    /// The handler returned an error; its compensations have run.
    Failed(E),
    /// The handler returned its result. The flow is over.
    Finished(T),
    /// The run was shed: another server may go on from this journal.
    Shed(Journal),
    /// The engine stopped the run.
    Stopped(Error),
    /// The handler waits for answers, and has been dropped.
    Suspended(Suspended),
}

/// A flow that waits for its client.
#[derive(Debug)]
#[non_exhaustive]
pub struct Suspended {
    /// Questions for the client, in order of key. Never empty.
    pub questions: Vec<OpenQuestion>,
    /// Journal to resume the flow from.
    pub journal: Journal,
}

/// A question that is open.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenQuestion {
    /// The key under which the client is asked.
    pub key: Key,
    /// Fingerprint that its answer must match.
    pub fingerprint: Fingerprint,
    /// The request as the question made it.
    pub request: Bytes,
    /// When an answer comes too late.
    pub deadline: Option<UnixMillis>,
    /// Location in the source.
    pub at: &'static Location<'static>,
}

/// Changes of the open questions since the last look.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Changes {
    /// Questions to be put to the client.
    pub opened: Vec<OpenQuestion>,
    /// Questions that the handler no longer waits for.
    pub withdrawn: Vec<Key>,
}
