//! Tasks end and go.

use rusqlite::{Connection, named_params};
use sterna_store::{Error, Event, Lease, Outcome, Owner, Status, Sweep, Swept, TaskId, UnixMillis};

use super::codec::{count, get};
use super::damage::Damage;
use super::head::Head;
use crate::error::{explain, gone};

pub(crate) fn cancel(
    connection: &Connection,
    caller: Owner,
    id: TaskId,
    now: UnixMillis,
) -> Result<Option<Status>, Error> {
    let Some(mut head) = Head::of(connection, caller, id)? else {
        return Ok(None);
    };
    if head.control.end(Event::Cancelled, now) {
        head.updated_at = now;
        head.save(connection)?;
    }
    Ok(Some(head.control.status))
}

pub(crate) fn finish(
    connection: &Connection,
    lease: Lease,
    outcome: &Outcome,
    now: UnixMillis,
) -> Result<Status, Error> {
    let mut head = Head::load(connection, lease.task)?.ok_or_else(gone)?;
    if head.control.finish(lease.fence, outcome.event())? {
        head.updated_at = now;
        if let Some(payload) = outcome.payload() {
            write_outcome(connection, head.id, payload)?;
        }
    }
    head.save(connection)?;
    Ok(head.control.status)
}

fn write_outcome(connection: &Connection, id: TaskId, payload: &[u8]) -> Result<(), Error> {
    connection
        .prepare_cached("UPDATE sterna_payload SET outcome = ?2 WHERE task = ?1")
        .and_then(|mut statement| statement.execute((id.as_bytes(), payload)))
        .map_err(explain)?;
    Ok(())
}

pub(crate) fn sweep(
    connection: &Connection,
    sweep: &Sweep,
    now: UnixMillis,
) -> Result<(Swept, Vec<Damage>), Error> {
    let late = expired(connection, sweep.limit, now)?;
    let expired = count(late.len());
    let mut damages = Vec::new();
    for (row, head) in late {
        match head {
            Ok(mut head) => {
                head.control.end(Event::Failed, now);
                head.updated_at = now;
                write_outcome(connection, head.id, &sweep.error)?;
                head.save(connection)?;
            }
            Err(error) => damages.push(Damage::set_aside(connection, row, error, now)?),
        }
    }
    let deleted = connection
        .prepare_cached(
            "DELETE FROM sterna_task WHERE id IN (
                SELECT id FROM sterna_task
                WHERE expires_at <= :now - :keep AND due_at IS NULL
                    AND status NOT IN ('working', 'input_required')
                LIMIT :limit
             )",
        )
        .and_then(|mut statement| {
            statement.execute(named_params! {
                ":now": now.get(),
                ":keep": UnixMillis::span(sweep.keep),
                ":limit": i64::from(sweep.limit),
            })
        })
        .map_err(explain)?;
    Ok((Swept::new(expired, count(deleted)), damages))
}

/// The row of a task, and its contents if they can be read.
type Late = (i64, Result<Head, Error>);

/// The rows of tasks whose time is up and that have not ended.
fn expired(connection: &Connection, limit: u32, now: UnixMillis) -> Result<Vec<Late>, Error> {
    let mut statement = connection
        .prepare_cached(
            "SELECT *, rowid AS number FROM sterna_task
             WHERE expires_at <= ?1 AND status IN ('working', 'input_required')
             LIMIT ?2",
        )
        .map_err(explain)?;
    let mut rows = statement
        .query((now.get(), i64::from(limit)))
        .map_err(explain)?;
    let mut expired = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        expired.push((get(row, "number")?, Head::from_row(row)));
    }
    Ok(expired)
}
