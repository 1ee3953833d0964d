//! What a run and its worker share.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sterna_flow::{BackendError, BoxFuture, Entry, JournalSink, Kind, Level, Listener, Progress};
use sterna_store::{Answer, Commit, Lease, Name, Note, TaskUpdate};

use super::Tasks;
use super::create::row;
use super::plugs::plug_error;

/// What a run and its worker share: which answers were handed in, what the next
/// commit must say besides, and what the last one was told.
pub(super) struct Desk {
    tasks: Arc<Tasks>,
    lease: Lease,
    papers: Mutex<Papers>,
}

#[derive(Default)]
struct Papers {
    /// Keys of answers that the handler has, or will have when they are durable.
    handed: HashSet<String>,
    /// Answers that do not count, to be taken so that they do not come again.
    ignored: Vec<Name>,
    note: Option<Note>,
    news: Option<TaskUpdate>,
}

impl Desk {
    pub(super) fn new(tasks: Arc<Tasks>, lease: Lease) -> Arc<Self> {
        let papers = Mutex::default();
        Arc::new(Self {
            tasks,
            lease,
            papers,
        })
    }

    /// The answers among `answers` that have not been handed in yet.
    pub(super) fn unseen(&self, answers: Vec<Answer>) -> Vec<Answer> {
        let mut papers = self.lock();
        let unseen = answers.into_iter();
        unseen
            .filter(|answer| papers.handed.insert(answer.key.as_str().to_owned()))
            .collect()
    }

    /// An answer that came too late or was never asked for.
    pub(super) fn ignore(&self, key: Name) {
        self.lock().ignored.push(key);
    }

    /// What was told with the last commit, once.
    pub(super) fn take_news(&self) -> Option<TaskUpdate> {
        self.lock().news.take()
    }

    /// A commit that says everything that waits to be said.
    pub(super) fn commit(&self) -> Commit {
        let mut papers = self.lock();
        let mut commit = Commit::default();
        commit.taken = std::mem::take(&mut papers.ignored);
        commit.note = papers.note.take();
        commit
    }

    fn lock(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit_of(&self, entries: &[Entry]) -> Result<Commit, BackendError> {
        let mut commit = self.commit();
        for entry in entries {
            let row = row(entry).ok_or_else(|| {
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

/// Commits entries before the handler sees them.
pub(super) struct Recorder(pub(super) Arc<Desk>);

impl JournalSink for Recorder {
    fn append(&self, entries: Vec<Entry>) -> BoxFuture<Result<(), BackendError>> {
        let desk = Arc::clone(&self.0);
        Box::pin(async move {
            let commit = desk.commit_of(&entries)?;
            let appended = desk.tasks.store.append(desk.lease, commit).await;
            let news = appended.map_err(|error| {
                desk.tasks.trouble.note(&error);
                plug_error(error)
            })?;
            desk.lock().news = Some(news);
            Ok(())
        })
    }
}

/// A task has no stream for progress (TASK-S19): what it says about itself is
/// its status message, written with the next commit.
impl Listener for Desk {
    fn progress(&self, progress: Progress) {
        if let Some(message) = progress.message {
            self.lock().note = Some(Note::new(&message));
        }
    }

    fn log(&self, level: Level, message: &str) {
        tracing::debug!(target: "sterna::tasks", task = ?self.lease.task, ?level, message, "a task says");
    }
}
