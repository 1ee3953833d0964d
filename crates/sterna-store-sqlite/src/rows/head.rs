//! The row of a task.

use rusqlite::{Connection, Row, named_params};
use sterna_store::machine::Control;
use sterna_store::{Error, Fence, FlowId, Name, Note, Owner, Summary, TaskId, UnixMillis};

use super::codec::{array, get, maybe_time, name, note, status, time};
use crate::error::explain;

/// Everything about a task that is small.
pub(super) struct Head {
    pub(super) id: TaskId,
    pub(super) principal: Owner,
    pub(super) flow: FlowId,
    pub(super) target: Name,
    pub(super) note: Option<Note>,
    pub(super) created_at: UnixMillis,
    pub(super) updated_at: UnixMillis,
    pub(super) expires_at: Option<UnixMillis>,
    pub(super) control: Control,
    /// The worker that holds it, for an operator.
    pub(super) worker: Option<String>,
    /// Number of answers that have come.
    pub(super) heard: u32,
}

impl Head {
    pub(super) fn load(connection: &Connection, id: TaskId) -> Result<Option<Self>, Error> {
        let mut statement = connection
            .prepare_cached("SELECT * FROM sterna_task WHERE id = ?1")
            .map_err(explain)?;
        let mut rows = statement.query([id.as_bytes()]).map_err(explain)?;
        match rows.next().map_err(explain)? {
            Some(row) => Self::from_row(row).map(Some),
            None => Ok(None),
        }
    }

    /// The task in row `row`.
    pub(super) fn at(connection: &Connection, row: i64) -> Result<Option<Self>, Error> {
        let mut statement = connection
            .prepare_cached("SELECT * FROM sterna_task WHERE rowid = ?1")
            .map_err(explain)?;
        let mut rows = statement.query([row]).map_err(explain)?;
        match rows.next().map_err(explain)? {
            Some(row) => Self::from_row(row).map(Some),
            None => Ok(None),
        }
    }

    /// The task `id`, if it is the caller's.
    pub(super) fn of(
        connection: &Connection,
        caller: Owner,
        id: TaskId,
    ) -> Result<Option<Self>, Error> {
        let head = Self::load(connection, id)?;
        Ok(head.filter(|head| head.principal == caller))
    }

    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Error> {
        let worker: Option<String> = get(row, "worker")?;
        let created_at = time(row, "created_at")?;
        let mut control = Control::created(get(row, "entries")?, created_at);
        control.status = status(row, "status")?;
        control.fence = Fence::new(get::<i64>(row, "fence")?.cast_unsigned());
        control.held = worker.is_some();
        control.due_at = maybe_time(row, "due_at")?;
        control.attempts = get(row, "attempts")?;
        control.open = get(row, "open")?;
        control.unread = get(row, "unread")?;
        Ok(Self {
            id: TaskId::from_bytes(array(row, "id")?),
            principal: Owner::from_digest(array(row, "principal")?),
            flow: FlowId::from_bytes(array(row, "flow")?),
            target: name(row, "target")?,
            note: note(row, "note")?,
            created_at,
            updated_at: time(row, "updated_at")?,
            expires_at: maybe_time(row, "expires_at")?,
            control,
            worker,
            heard: get(row, "heard")?,
        })
    }

    /// Writes back what can change.
    pub(super) fn save(&self, connection: &Connection) -> Result<(), Error> {
        let control = &self.control;
        let worker = self.worker.as_deref().filter(|_| control.held);
        let mut statement = connection
            .prepare_cached(
                "UPDATE sterna_task SET
                    status = :status, note = :note, updated_at = :updated_at, fence = :fence,
                    worker = :worker, due_at = :due_at, attempts = :attempts,
                    entries = :entries, open = :open, unread = :unread, heard = :heard
                 WHERE id = :id",
            )
            .map_err(explain)?;
        statement
            .execute(named_params! {
                ":id": self.id.as_bytes(),
                ":status": control.status.as_str(),
                ":note": self.note.as_ref().map(Note::as_str),
                ":updated_at": self.updated_at.get(),
                ":fence": control.fence.get().cast_signed(),
                ":worker": worker,
                ":due_at": control.due_at.map(UnixMillis::get),
                ":attempts": control.attempts,
                ":entries": control.entries,
                ":open": control.open,
                ":unread": control.unread,
                ":heard": self.heard,
            })
            .map_err(explain)?;
        Ok(())
    }

    pub(super) fn summary(&self) -> Summary {
        let status = self.control.status;
        let mut summary = Summary::new(self.id, self.target.clone(), status, self.created_at);
        summary.note.clone_from(&self.note);
        summary.updated_at = self.updated_at;
        summary.expires_at = self.expires_at;
        summary
    }
}
