//! Tasks as a client may see them.

use rusqlite::{Connection, OptionalExtension, Row, named_params};
use sterna_store::{
    Error, ErrorKind, Listing, Outcome, Owner, Page, Status, Summary, Task, TaskId, UnixMillis,
};

use super::codec::{array, maybe_time, name, note, status, time};
use super::inbox;
use crate::error::explain;

pub(crate) fn read(
    connection: &Connection,
    caller: Owner,
    id: TaskId,
) -> Result<Option<Task>, Error> {
    let mut statement = connection
        .prepare_cached("SELECT * FROM sterna_task WHERE id = ?1 AND principal = ?2")
        .map_err(explain)?;
    let mut rows = statement
        .query((id.as_bytes(), caller.as_bytes()))
        .map_err(explain)?;
    let Some(row) = rows.next().map_err(explain)? else {
        return Ok(None);
    };
    let task = match summary(row).and_then(|summary| task(connection, summary)) {
        Err(error) if error.kind() == ErrorKind::Corrupt => Task::new(unreadable(row, id)),
        task => task?,
    };
    Ok(Some(task))
}

fn task(connection: &Connection, summary: Summary) -> Result<Task, Error> {
    let id = summary.id;
    let mut task = Task::new(summary);
    match task.summary.status {
        Status::Working | Status::Cancelled => {}
        Status::InputRequired => task.questions = inbox::open(connection, id)?,
        Status::Completed => task.outcome = outcome(connection, id)?.map(Outcome::Completed),
        Status::Failed => task.outcome = outcome(connection, id)?.map(Outcome::Failed),
    }
    Ok(task)
}

/// A task as a client sees it. What only workers need is not looked at.
fn summary(row: &Row<'_>) -> Result<Summary, Error> {
    let id = TaskId::from_bytes(array(row, "id")?);
    let created_at = time(row, "created_at")?;
    let mut summary = Summary::new(id, name(row, "target")?, status(row, "status")?, created_at);
    summary.note = note(row, "note")?;
    summary.updated_at = time(row, "updated_at")?;
    summary.expires_at = maybe_time(row, "expires_at")?;
    Ok(summary)
}

/// A task that cannot be read, as its owner sees it: it has failed, and there
/// is nothing more to say about it.
pub(super) fn unreadable(row: &Row<'_>, id: TaskId) -> Summary {
    let created_at = time(row, "created_at").unwrap_or_default();
    let mut summary = Summary::unreadable(id, created_at);
    summary.updated_at = time(row, "updated_at").unwrap_or(created_at);
    summary.expires_at = maybe_time(row, "expires_at").unwrap_or_default();
    summary
}

fn outcome(connection: &Connection, id: TaskId) -> Result<Option<bytes::Bytes>, Error> {
    let outcome: Option<Option<Vec<u8>>> = connection
        .prepare_cached("SELECT outcome FROM sterna_payload WHERE task = ?1")
        .and_then(|mut statement| {
            statement
                .query_row([id.as_bytes()], |row| row.get(0))
                .optional()
        })
        .map_err(explain)?;
    Ok(outcome.flatten().map(Into::into))
}

pub(crate) fn list(connection: &Connection, caller: Owner, page: Page) -> Result<Listing, Error> {
    let (created_at, id) = match page.after {
        Some(cursor) => (cursor.created_at(), cursor.id()),
        None => (UnixMillis::MIN, TaskId::from_bytes([0; 16])),
    };
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM sterna_task
             WHERE principal = :principal AND (created_at, id) > (:created_at, :id)
             ORDER BY created_at, id LIMIT :limit",
        )
        .map_err(explain)?;
    let mut rows = statement
        .query(named_params! {
            ":principal": caller.as_bytes(),
            ":created_at": created_at.get(),
            ":id": id.as_bytes(),
            ":limit": i64::from(page.limit) + 1,
        })
        .map_err(explain)?;
    let mut tasks = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        match summary(row) {
            Ok(summary) => tasks.push(summary),
            // A row without an id cannot be asked for.
            Err(_) => {
                let id = array(row, "id").map(TaskId::from_bytes);
                tasks.extend(id.ok().map(|id| unreadable(row, id)));
            }
        }
    }
    Ok(Listing::cut(tasks, page.limit))
}
