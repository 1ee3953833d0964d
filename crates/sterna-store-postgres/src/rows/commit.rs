//! A worker writes progress and gives the task back.

use sterna_store::machine::Changes;
use sterna_store::{Commit, Entry, Error, Lease, Passivated, Passivation, TaskId, TaskUpdate};

use super::head::Head;
use super::locked::LockedTask;
use super::verb::Verb;
use super::writes::Writes;
use crate::error::gone;

/// Writes progress.
pub(crate) struct Append {
    pub(crate) lease: Lease,
    pub(crate) commit: Commit,
}

impl Verb for Append {
    type Output = TaskUpdate;

    fn task(&self) -> &TaskId {
        &self.lease.task
    }

    fn entries(&self) -> &[Entry] {
        &self.commit.entries
    }

    fn reads_questions(&self) -> bool {
        true
    }

    fn decide(&self, task: Option<LockedTask>, writes: &mut Writes) -> Result<TaskUpdate, Error> {
        let mut task = task.ok_or_else(gone)?;
        let known = task.known(&self.commit)?;
        let unread = task.unread(&self.commit.taken)?;
        let mut head = task.head;
        let before = head.control.entries;
        let changes = head
            .control
            .commit(self.lease.fence, &known, &self.commit)?;
        touch(&mut head, &changes, &self.commit);
        let status = head.control.status;
        writes.change(head.id, before, &changes);
        writes.save(head);
        Ok(TaskUpdate::new(status, unread))
    }
}

/// Writes progress and gives the task back.
pub(crate) struct Passivate {
    pub(crate) lease: Lease,
    pub(crate) commit: Commit,
    pub(crate) rest: Passivation,
}

impl Verb for Passivate {
    type Output = Passivated;

    fn task(&self) -> &TaskId {
        &self.lease.task
    }

    fn entries(&self) -> &[Entry] {
        &self.commit.entries
    }

    fn reads_questions(&self) -> bool {
        true
    }

    fn decide(&self, task: Option<LockedTask>, writes: &mut Writes) -> Result<Passivated, Error> {
        let mut task = task.ok_or_else(gone)?;
        let known = task.known(&self.commit)?;
        let unread = task.unread(&self.commit.taken)?;
        let mut head = task.head;
        let before = head.control.entries;
        let changes = head
            .control
            .commit(self.lease.fence, &known, &self.commit)?;
        let parked = head.control.rest(self.lease.fence, head.now, self.rest)?;
        touch(&mut head, &changes, &self.commit);
        let status = head.control.status;
        writes.change(head.id, before, &changes);
        writes.save(head);
        if parked {
            Ok(Passivated::Parked)
        } else {
            Ok(Passivated::Refused(TaskUpdate::new(status, unread)))
        }
    }
}

/// Updates the time of the last change that a client can see.
fn touch(head: &mut Head, changes: &Changes<'_>, commit: &Commit) {
    let note = commit.note.as_ref();
    let noted = note.is_some() && note != head.note.as_ref();
    if noted {
        head.note = note.cloned();
    }
    if noted || changes.are_visible() {
        head.updated_at = head.now;
    }
}
