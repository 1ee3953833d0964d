//! The row of a task.

use sterna_store::machine::Control;
use sterna_store::{Error, Fence, FlowId, Name, Note, Owner, Summary, TaskId, UnixMillis};
use tokio_postgres::Row;

use super::codec::{array, get, maybe_time, name, note, number, status, time};
use super::now;
use crate::statement::Statement;

/// Everything about a task that is small, and the time at which it was read.
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
    /// Number of answers that have come.
    pub(super) heard: u32,
    pub(super) now: UnixMillis,
}

impl Head {
    pub(super) fn from_row(row: &Row) -> Result<Self, Error> {
        let created_at = time(row, "created_at")?;
        let mut control = Control::created(number(row, "entries")?, created_at);
        control.status = status(row, "status")?;
        control.fence = Fence::new(get::<i64>(row, "fence")?.cast_unsigned());
        control.held = get::<Option<&str>>(row, "worker")?.is_some();
        control.due_at = maybe_time(row, "due_at")?;
        control.attempts = number(row, "attempts")?;
        control.open = number(row, "open")?;
        control.unread = number(row, "unread")?;
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
            heard: number(row, "heard")?,
            now: time(row, "now")?,
        })
    }

    /// The first of `rows`.
    pub(super) fn first(rows: &[Row]) -> Result<Option<Self>, Error> {
        rows.first().map(Self::from_row).transpose()
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

/// Locks a task and reads it, and the time.
pub(super) fn lock(id: &TaskId) -> Statement<'_> {
    Statement::new(concat!(
        "SELECT task.*, ",
        now!(),
        " AS now FROM @task AS task WHERE id = $1 FOR UPDATE"
    ))
    .with(id.as_bytes().as_slice())
}
