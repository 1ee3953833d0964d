//! A task as its client sees it, and its parts.

use std::time::Duration;

use bytes::Bytes;

use crate::{Event, FlowId, Name, Note, Owner, Question, Status, TaskId, UnixMillis};

/// A task that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewTask {
    /// The id, made by the caller so that a lost acknowledgement can be
    /// repeated.
    pub id: TaskId,
    /// Owner, the only caller that may see the task.
    pub principal: Owner,
    /// The flow it runs.
    pub flow: FlowId,
    /// The tool that runs it, so that a worker claims only what it knows.
    pub target: Name,
    /// Request for the worker that starts the task; the store does not read it.
    pub request: Bytes,
    /// Journal of the flow before it became a task.
    pub journal: Vec<Entry>,
    /// Lifetime from creation; `None` means forever.
    pub ttl: Option<Duration>,
    /// A line for people.
    pub note: Option<Note>,
    /// Largest number of unfinished tasks of its owner, this one included; `None` for
    /// no limit.
    pub quota: Option<u32>,
}

impl NewTask {
    /// A task with an empty journal that lives forever.
    pub fn new(id: TaskId, principal: Owner, flow: FlowId, target: Name, request: Bytes) -> Self {
        Self {
            id,
            principal,
            flow,
            target,
            request,
            journal: Vec::new(),
            ttl: None,
            note: None,
            quota: None,
        }
    }
}

/// Properties of a task that need no journal and no questions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Summary {
    /// Its id.
    pub id: TaskId,
    /// The tool that runs it.
    pub target: Name,
    /// Its status.
    pub status: Status,
    /// A line for people.
    pub note: Option<Note>,
    /// When it was created.
    pub created_at: UnixMillis,
    /// When its status, note or questions last changed.
    pub updated_at: UnixMillis,
    /// When it may be swept away.
    pub expires_at: Option<UnixMillis>,
}

impl Summary {
    /// A task that cannot be read, as its owner sees it: it has failed, and its
    /// target is not known.
    pub fn unreadable(id: TaskId, created_at: UnixMillis) -> Self {
        Self::new(id, Name::unreadable(), Status::Failed, created_at)
    }

    /// A task that was just created, has no note and lives forever.
    pub fn new(id: TaskId, target: Name, status: Status, created_at: UnixMillis) -> Self {
        Self {
            id,
            target,
            status,
            note: None,
            created_at,
            updated_at: created_at,
            expires_at: None,
        }
    }
}

/// A task with everything its client may know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// The part that lists show.
    pub summary: Summary,
    /// The questions that wait for an answer, in the order they were asked.
    pub questions: Vec<Question>,
    /// Outcome; `None` while the task runs, or if it was cancelled.
    pub outcome: Option<Outcome>,
}

impl Task {
    /// A task that has neither questions nor an end.
    pub fn new(summary: Summary) -> Self {
        Self {
            summary,
            questions: Vec::new(),
            outcome: None,
        }
    }
}

/// One finished piece of a flow: a step, an answer, an effect.
///
/// The store does not read the value. A key never gets a second value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Entry {
    /// Its name within the task.
    pub key: Name,
    /// Outcome of the task.
    pub value: Bytes,
}

impl Entry {
    /// An entry.
    pub fn new(key: Name, value: Bytes) -> Self {
        Self { key, value }
    }
}

/// The ending of a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The client cancelled it, and its effects are undone.
    Cancelled,
    /// With this result.
    Completed(Bytes),
    /// With this error.
    Failed(Bytes),
}

impl Outcome {
    /// Event that this outcome is for the status.
    pub const fn event(&self) -> Event {
        match self {
            Self::Cancelled => Event::Cancelled,
            Self::Completed(_) => Event::Completed,
            Self::Failed(_) => Event::Failed,
        }
    }

    /// The result or the error.
    pub const fn payload(&self) -> Option<&Bytes> {
        match self {
            Self::Cancelled => None,
            Self::Completed(payload) | Self::Failed(payload) => Some(payload),
        }
    }
}
