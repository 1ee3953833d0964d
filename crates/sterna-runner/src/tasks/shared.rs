//! State that the run of a task shares with its worker.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sterna_flow::{
    BackendError, BoxFuture, Entry, JournalSink, Kind, Level, Listener, Progress, Run,
};
use sterna_store::{Answer, Commit, Lease, Name, Note, TaskId, TaskUpdate};

use super::{TaskQueue, stored_entry};
use crate::effects::backend_error;

/// State that the run of a task shares with its worker: the answers that were
/// handed in, additions to the next commit, and the update that came with the
/// last one.
pub struct TaskShared {
    queue: Arc<TaskQueue>,
    lease: Lease,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    /// Keys of answers that the handler has, or will have when they are durable.
    handed: HashSet<String>,
    /// Answers that do not count, to be taken so that they do not come again.
    ignored: Vec<Name>,
    note: Option<Note>,
    update: Option<TaskUpdate>,
}

impl TaskShared {
    pub(super) fn new(queue: Arc<TaskQueue>, lease: Lease) -> Arc<Self> {
        let pending = Mutex::default();
        Arc::new(Self {
            queue,
            lease,
            pending,
        })
    }

    pub(super) fn task(&self) -> TaskId {
        self.lease.task
    }

    /// Returns `run` as the run of this task: what it does is committed before its
    /// handler sees it, and its progress is the note of the task, as `to_note`
    /// writes it.
    pub fn attach(self: &Arc<Self>, run: Run, to_note: fn(Progress) -> Option<Note>) -> Run {
        let shared = Arc::clone(self);
        run.listener(Arc::new(TaskListener { shared, to_note }))
            .journaling(Arc::new(TaskJournal(Arc::clone(self))))
    }

    /// Returns those of `answers` that have not been handed in yet, and notes that
    /// they are.
    pub(super) fn unseen(&self, answers: Vec<Answer>) -> Vec<Answer> {
        let mut pending = self.lock();
        let unseen = answers.into_iter();
        unseen
            .filter(|answer| pending.handed.insert(answer.key.as_str().to_owned()))
            .collect()
    }

    /// Takes an answer that came too late or was never asked for out of the store
    /// with the next commit.
    pub(super) fn ignore(&self, key: Name) {
        self.lock().ignored.push(key);
    }

    /// Returns the update that came with the last commit of the run, once.
    pub(super) fn take_update(&self) -> Option<TaskUpdate> {
        self.lock().update.take()
    }

    /// Returns a commit of all that waits to be written.
    pub(super) fn commit(&self) -> Commit {
        let mut pending = self.lock();
        let mut commit = Commit::default();
        commit.taken = std::mem::take(&mut pending.ignored);
        commit.note = pending.note.take();
        commit
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit_of(&self, entries: &[Entry]) -> Result<Commit, BackendError> {
        let mut commit = self.commit();
        for entry in entries {
            let row = stored_entry(entry).ok_or_else(|| {
                BackendError::Unavailable(format!("`{}` is no key for a store", entry.key()).into())
            })?;
            if entry.kind() == Kind::Answer && self.lock().handed.contains(row.key.as_str()) {
                commit.taken.push(row.key.clone());
            }
            commit.entries.push(row);
        }
        Ok(commit)
    }
}

/// Journal of a task: entries are committed before the handler sees them.
struct TaskJournal(Arc<TaskShared>);

impl JournalSink for TaskJournal {
    fn append(&self, entries: Vec<Entry>) -> BoxFuture<Result<(), BackendError>> {
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            let commit = shared.commit_of(&entries)?;
            let appended = shared.queue.store.append(shared.lease, commit).await;
            let update = appended.map_err(|error| {
                shared.queue.health.note(&error);
                backend_error(error)
            })?;
            shared.lock().update = Some(update);
            Ok(())
        })
    }
}

/// A task has no stream for progress (TASK-S19): it is the note of the task,
/// written with the next commit.
struct TaskListener {
    shared: Arc<TaskShared>,
    to_note: fn(Progress) -> Option<Note>,
}

impl Listener for TaskListener {
    fn progress(&self, progress: Progress) {
        if let Some(note) = (self.to_note)(progress) {
            self.shared.lock().note = Some(note);
        }
    }

    fn log(&self, level: Level, message: &str) {
        let task = self.shared.lease.task;
        tracing::debug!(target: "sterna::tasks", ?task, ?level, message, "a task says");
    }
}

impl fmt::Debug for TaskShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskShared")
            .field("task", &self.lease.task)
            .finish_non_exhaustive()
    }
}
