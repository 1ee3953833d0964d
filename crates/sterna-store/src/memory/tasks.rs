//! Tasks of the store in memory.

use std::ops::Bound;
use std::time::Duration;

use super::row::{Row, cost_of_changes, cost_of_task};
use super::state::State;
use super::usage::{Usage, full};
use crate::machine::{opening, over_quota, turns};
use crate::{
    Answer, Answered, Claim, Claimed, Commit, Error, ErrorKind, Event, Lease, Listing, NewTask,
    Outcome, Owner, Page, Passivated, Passivation, Status, Summary, Sweep, Swept, Task, TaskId,
    TaskUpdate, UnixMillis,
};

impl State {
    pub(super) fn create(&mut self, task: NewTask, now: UnixMillis) -> Result<Summary, Error> {
        let id = task.id;
        if let Some(row) = self.tasks.get(&id) {
            if row.principal == task.principal {
                return Ok(row.summary(id));
            }
            return Err(Error::new(ErrorKind::Conflict, "the task id is taken"));
        }
        if self.tasks.len() >= self.limits.tasks {
            return Err(full("tasks", self.limits.tasks));
        }
        if let Some(quota) = task.quota
            && self.unfinished(task.principal) >= quota
        {
            return Err(over_quota(quota));
        }
        let journal = opening(&task.journal)?.into_iter().cloned().collect();
        let task = NewTask { journal, ..task };
        let cost = cost_of_task(&task);
        self.make_room(cost, now)?;
        let row = Row::new(task, cost, now);
        let summary = row.summary(id);
        self.due.insert((now, id));
        self.owned.insert((row.principal, now, id));
        self.tasks.insert(id, row);
        Ok(summary)
    }

    pub(super) fn read(&self, caller: Owner, id: TaskId) -> Option<Task> {
        self.of(caller, id).map(|row| row.task(id))
    }

    pub(super) fn list(&self, caller: Owner, page: Page) -> Listing {
        let start = page.after.map_or(
            Bound::Included((caller, UnixMillis::MIN, TaskId::from_bytes([0; 16]))),
            |cursor| Bound::Excluded((caller, cursor.created_at(), cursor.id())),
        );
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let tasks = self
            .owned
            .range((start, Bound::Unbounded))
            .take_while(|(owner, _, _)| *owner == caller)
            .take(limit.saturating_add(1))
            .filter_map(|(_, _, id)| Some(self.tasks.get(id)?.summary(*id)))
            .collect();
        Listing::cut(tasks, page.limit)
    }

    pub(super) fn answer(
        &mut self,
        caller: Owner,
        id: TaskId,
        answers: &[Answer],
        now: UnixMillis,
    ) -> Result<Option<Answered>, Error> {
        if self.of(caller, id).is_none() {
            return Ok(None);
        }
        self.change(id, now, |row, room| {
            let mut control = row.control.clone();
            let accepted = control.answer(&row.asked(), answers, now);
            let cost = accepted.iter().map(|a| a.response.len()).sum();
            charge(row, room, cost)?;
            row.hear(&accepted);
            if !accepted.is_empty() {
                row.updated_at = now;
            }
            row.control = control;
            let count = u32::try_from(accepted.len()).unwrap_or(u32::MAX);
            Ok(Some(Answered::new(count, row.control.status)))
        })
    }

    pub(super) fn cancel(&mut self, caller: Owner, id: TaskId, now: UnixMillis) -> Option<Status> {
        self.of(caller, id)?;
        let ended = self.change(id, now, |row, _| {
            if row.control.end(Event::Cancelled, now) {
                row.updated_at = now;
            }
            Ok(row.control.status)
        });
        ended.ok()
    }

    pub(super) fn claim(&mut self, claim: &Claim, now: UnixMillis) -> Vec<Claimed> {
        let due = self
            .due
            .iter()
            .take_while(|(due, _)| *due <= now)
            .filter(|(_, id)| !claim.held.contains(id))
            .filter_map(|(_, id)| Some((self.tasks.get(id)?, *id)))
            .filter(|(row, _)| claim.targets.include(&row.target))
            .map(|(row, id)| (row.principal, id));
        let due = turns(due, claim.after, claim.limit);
        let mut claimed = Vec::with_capacity(due.len());
        for (_, id) in due {
            claimed.extend(self.change(id, now, |row, _| {
                row.control.claim(now, claim.length);
                row.worker = Some(claim.worker.clone());
                Ok(row.claimed(id))
            }));
        }
        claimed
    }

    pub(super) fn renew(
        &mut self,
        lease: Lease,
        length: Duration,
        now: UnixMillis,
    ) -> Result<TaskUpdate, Error> {
        self.change(lease.task, now, |row, _| {
            row.control.renew(lease.fence, now, length)?;
            Ok(row.news())
        })
    }

    pub(super) fn append(
        &mut self,
        lease: Lease,
        commit: &Commit,
        now: UnixMillis,
    ) -> Result<TaskUpdate, Error> {
        self.change(lease.task, now, |row, room| {
            write(row, room, lease, commit, now, None)?;
            Ok(row.news())
        })
    }

    pub(super) fn passivate(
        &mut self,
        lease: Lease,
        commit: &Commit,
        rest: Passivation,
        now: UnixMillis,
    ) -> Result<Passivated, Error> {
        self.change(lease.task, now, |row, room| {
            if write(row, room, lease, commit, now, Some(rest))? {
                Ok(Passivated::Parked)
            } else {
                Ok(Passivated::Refused(row.news()))
            }
        })
    }

    pub(super) fn finish(
        &mut self,
        lease: Lease,
        outcome: &Outcome,
        now: UnixMillis,
    ) -> Result<Status, Error> {
        self.change(lease.task, now, |row, room| {
            let mut control = row.control.clone();
            if control.finish(lease.fence, outcome.event())? {
                charge(
                    row,
                    room,
                    outcome.payload().map_or(0, |payload| payload.len()),
                )?;
                row.outcome = outcome.payload().map(|_| outcome.clone());
                row.updated_at = now;
            }
            row.control = control;
            Ok(row.control.status)
        })
    }

    pub(super) fn sweep_tasks(&mut self, sweep: &Sweep, now: UnixMillis) -> Swept {
        let limit = usize::try_from(sweep.limit).unwrap_or(usize::MAX);
        let late = |row: &Row, grace| row.expires_at.is_some_and(|end| end + grace <= now);
        let expired = self.ids(limit, |row| {
            late(row, Duration::ZERO) && !row.control.status.is_final()
        });
        for id in &expired {
            let failed = self.change(*id, now, |row, _| {
                row.control.end(Event::Failed, now);
                row.outcome = Some(Outcome::Failed(sweep.error.clone()));
                row.updated_at = now;
                Ok(())
            });
            debug_assert!(failed.is_ok(), "the task was just found");
        }
        let over = self.ids(limit, |row| late(row, sweep.keep) && row.control.is_done());
        for id in &over {
            if let Some(row) = self.tasks.remove(id) {
                self.owned.remove(&(row.principal, row.created_at, *id));
                self.room.give_back(row.cost);
            }
        }
        let count = |ids: Vec<TaskId>| u32::try_from(ids.len()).unwrap_or(u32::MAX);
        Swept::new(count(expired), count(over))
    }

    /// Number of tasks of `owner` that have not ended.
    fn unfinished(&self, owner: Owner) -> u32 {
        let first = (owner, UnixMillis::MIN, TaskId::from_bytes([0; 16]));
        let owned = self.owned.range(first..);
        let unfinished = owned
            .take_while(|(other, _, _)| *other == owner)
            .filter_map(|(_, _, id)| self.tasks.get(id))
            .filter(|row| !row.control.status.is_final());
        u32::try_from(unfinished.count()).unwrap_or(u32::MAX)
    }

    fn ids(&self, limit: usize, wanted: impl Fn(&Row) -> bool) -> Vec<TaskId> {
        let rows = self.tasks.iter().filter(|(_, row)| wanted(row));
        rows.take(limit).map(|(id, _)| *id).collect()
    }

    /// The task `id`, if it is the caller's.
    fn of(&self, caller: Owner, id: TaskId) -> Option<&Row> {
        let row = self.tasks.get(&id)?;
        (row.principal == caller).then_some(row)
    }
}

/// Writes a commit and, if asked to, gives the task back. Says whether it did.
fn write(
    row: &mut Row,
    room: &mut Usage,
    lease: Lease,
    commit: &Commit,
    now: UnixMillis,
    rest: Option<Passivation>,
) -> Result<bool, Error> {
    let mut control = row.control.clone();
    let changes = control.commit(lease.fence, &row.known(commit), commit)?;
    let parked = match rest {
        Some(rest) => control.rest(lease.fence, now, rest)?,
        None => false,
    };
    let note = commit
        .note
        .as_ref()
        .filter(|note| row.note.as_ref() != Some(note));
    let cost = cost_of_changes(&changes) + note.map_or(0, |note| note.as_str().len());
    charge(row, room, cost)?;
    if changes.are_visible() || note.is_some() {
        row.updated_at = now;
    }
    if let Some(note) = note {
        row.note = Some(note.clone());
    }
    row.apply(&changes);
    row.control = control;
    Ok(parked)
}

fn charge(row: &mut Row, room: &mut Usage, bytes: usize) -> Result<(), Error> {
    room.take(bytes)?;
    row.cost += bytes;
    Ok(())
}
