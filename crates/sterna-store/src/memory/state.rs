//! Everything a store in memory holds, as a value.

use std::collections::{BTreeMap, BTreeSet};

use super::ledger::Blob;
use super::row::Row;
use super::usage::{MemoryLimits, Usage};
use crate::machine::{EffectRecord, RoundRecord};
use crate::{BlobId, Effect, Error, ErrorKind, Owner, Round, TaskId, UnixMillis};

/// The state of a store. Every operation is a function of it and the time, so
/// the model checker can walk through the very code that runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) limits: MemoryLimits,
    pub(super) room: Usage,
    pub(super) tasks: BTreeMap<TaskId, Row>,
    /// Tasks by when a worker may claim them.
    pub(super) due: BTreeSet<(UnixMillis, TaskId)>,
    /// Tasks by owner and age.
    pub(super) owned: BTreeSet<(Owner, UnixMillis, TaskId)>,
    pub(super) effects: BTreeMap<Effect, EffectRecord>,
    pub(super) rounds: BTreeMap<Round, RoundRecord>,
    pub(super) blobs: BTreeMap<BlobId, Blob>,
}

impl State {
    pub(super) fn new(limits: MemoryLimits) -> Self {
        Self {
            room: Usage::new(limits.bytes),
            limits,
            tasks: BTreeMap::new(),
            due: BTreeSet::new(),
            owned: BTreeSet::new(),
            effects: BTreeMap::new(),
            rounds: BTreeMap::new(),
            blobs: BTreeMap::new(),
        }
    }

    /// Takes `bytes`, and forgets expired rows if there is no other way.
    pub(super) fn make_room(&mut self, bytes: usize, now: UnixMillis) -> Result<(), Error> {
        if !self.room.has(bytes) {
            self.forget_expired(now);
        }
        self.room.take(bytes)
    }

    fn forget_expired(&mut self, now: UnixMillis) {
        self.sweep_ledger(u32::MAX, now);
        self.sweep_blobs(u32::MAX, now);
    }

    /// Lets `work` change the task `id` and keeps the index of due tasks.
    ///
    /// `work` changes nothing when it fails. If there is no room for it, what
    /// has expired is forgotten and it is tried once more.
    pub(super) fn change<T>(
        &mut self,
        id: TaskId,
        now: UnixMillis,
        work: impl Fn(&mut Row, &mut Usage) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let row = self.tasks.get_mut(&id).ok_or_else(gone)?;
        let before = row.control.due_at;
        let mut result = work(row, &mut self.room);
        if result.as_ref().is_err_and(|e| e.kind() == ErrorKind::Full) {
            self.forget_expired(now);
            let row = self.tasks.get_mut(&id).ok_or_else(gone)?;
            result = work(row, &mut self.room);
        }
        let row = self.tasks.get(&id).ok_or_else(gone)?;
        let after = row.control.due_at;
        if before != after {
            if let Some(due) = before {
                self.due.remove(&(due, id));
            }
            if let Some(due) = after {
                self.due.insert((due, id));
            }
        }
        result
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::Fenced, "the task was swept away")
}
