//! A task begins.

use rusqlite::{Connection, named_params};
use sterna_store::machine::{Control, opening, over_quota};
use sterna_store::{Entry, Error, ErrorKind, NewTask, Note, Owner, Summary, TaskId, UnixMillis};

use super::codec::count;
use super::head::Head;
use crate::error::explain;

pub(crate) fn create(
    connection: &Connection,
    task: &NewTask,
    now: UnixMillis,
) -> Result<Summary, Error> {
    if let Some(head) = Head::load(connection, task.id)? {
        if head.principal == task.principal {
            return Ok(head.summary());
        }
        return Err(Error::new(ErrorKind::Conflict, "the task id is taken"));
    }
    if let Some(quota) = task.quota
        && unfinished(connection, task.principal, quota)? >= quota
    {
        return Err(over_quota(quota));
    }
    let journal = opening(&task.journal)?;
    let head = Head {
        id: task.id,
        principal: task.principal,
        flow: task.flow,
        target: task.target.clone(),
        note: task.note.clone(),
        created_at: now,
        updated_at: now,
        expires_at: task.ttl.map(|ttl| now + ttl),
        control: Control::created(count(journal.len()), now),
        worker: None,
        heard: 0,
    };
    insert(connection, &head)?;
    connection
        .prepare_cached("INSERT INTO sterna_payload (task, request) VALUES (?1, ?2)")
        .and_then(|mut statement| statement.execute((task.id.as_bytes(), &task.request[..])))
        .map_err(explain)?;
    append_entries(connection, task.id, 0, journal)?;
    Ok(head.summary())
}

/// Number of tasks of `owner` that have not ended, counted up to `most`.
fn unfinished(connection: &Connection, owner: Owner, most: u32) -> Result<u32, Error> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM (
                SELECT 1 FROM sterna_task
                WHERE principal = ?1 AND status IN ('working', 'input_required') LIMIT ?2
             )",
        )
        .and_then(|mut statement| statement.query_row((owner.as_bytes(), most), |row| row.get(0)))
        .map_err(explain)
}

fn insert(connection: &Connection, head: &Head) -> Result<(), Error> {
    let control = &head.control;
    let mut statement = connection
        .prepare_cached(
            "INSERT INTO sterna_task VALUES (
                :id, :principal, :flow, :target, :status, :note,
                :created_at, :updated_at, :expires_at,
                :fence, NULL, :due_at, :attempts, :entries, :open, :unread, :heard
             )",
        )
        .map_err(explain)?;
    statement
        .execute(named_params! {
            ":id": head.id.as_bytes(),
            ":principal": head.principal.as_bytes(),
            ":flow": head.flow.as_bytes(),
            ":target": head.target.as_str(),
            ":status": control.status.as_str(),
            ":note": head.note.as_ref().map(Note::as_str),
            ":created_at": head.created_at.get(),
            ":updated_at": head.updated_at.get(),
            ":expires_at": head.expires_at.map(UnixMillis::get),
            ":fence": control.fence.get().cast_signed(),
            ":due_at": control.due_at.map(UnixMillis::get),
            ":attempts": control.attempts,
            ":entries": control.entries,
            ":open": control.open,
            ":unread": control.unread,
            ":heard": head.heard,
        })
        .map_err(explain)?;
    Ok(())
}

/// Appends to a journal that has `before` entries.
pub(super) fn append_entries<'a>(
    connection: &Connection,
    id: TaskId,
    before: u32,
    entries: impl IntoIterator<Item = &'a Entry>,
) -> Result<(), Error> {
    let mut statement = connection
        .prepare_cached("INSERT INTO sterna_entry VALUES (?1, ?2, ?3, ?4)")
        .map_err(explain)?;
    for (seq, entry) in (i64::from(before)..).zip(entries) {
        let Entry { key, value, .. } = entry;
        statement
            .execute((id.as_bytes(), seq, key.as_str(), &value[..]))
            .map_err(explain)?;
    }
    Ok(())
}
