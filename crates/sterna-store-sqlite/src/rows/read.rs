//! What a client may know.

use rusqlite::{Connection, OptionalExtension, named_params};
use sterna_store::{Error, Listing, Outcome, Page, Principal, Status, Task, TaskId, UnixMillis};

use super::head::Head;
use super::inbox;
use crate::error::explain;

pub(crate) fn read(
    connection: &Connection,
    caller: Principal,
    id: TaskId,
) -> Result<Option<Task>, Error> {
    let Some(head) = Head::of(connection, caller, id)? else {
        return Ok(None);
    };
    let mut task = Task::new(head.summary());
    match head.control.status {
        Status::Working | Status::Cancelled => {}
        Status::InputRequired => task.questions = inbox::open(connection, id)?,
        Status::Completed => task.outcome = outcome(connection, id)?.map(Outcome::Completed),
        Status::Failed => task.outcome = outcome(connection, id)?.map(Outcome::Failed),
    }
    Ok(Some(task))
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

pub(crate) fn list(
    connection: &Connection,
    caller: Principal,
    page: Page,
) -> Result<Listing, Error> {
    let (created_at, id) = match page.after {
        Some(cursor) => (cursor.created_at(), cursor.id()),
        None => (UnixMillis::new(i64::MIN), TaskId::from_bytes([0; 16])),
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
        tasks.push(Head::from_row(row)?.summary());
    }
    Ok(Listing::cut(tasks, page.limit))
}
