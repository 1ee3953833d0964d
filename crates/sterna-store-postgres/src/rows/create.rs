//! A task begins.

use sterna_store::machine::{Control, opening, over_quota};
use sterna_store::{Entry, Error, ErrorKind, NewTask, Note, Summary, TaskId, UnixMillis};
use tokio_postgres::Row;

use super::codec::{count, maybe_time, number, time};
use super::head::{Head, lock};
use super::{Operation, now};
use crate::error::Failure;
use crate::session::Session;
use crate::statement::Statement;

impl Operation for NewTask {
    type Output = Summary;

    async fn run(&self, session: &Session<'_>) -> Result<Summary, Failure> {
        let journal = opening(&self.journal)?;
        loop {
            let rows = session.run(insert(self, &journal)).await?;
            if let Some(row) = rows.first() {
                return Ok(created(self, row)?);
            }
            match Head::first(&session.run(lock(&self.id)).await?)? {
                Some(head) if head.principal == self.principal => return Ok(head.summary()),
                Some(_) => {
                    return Err(Error::new(ErrorKind::Conflict, "the task id is taken").into());
                }
                None => {
                    if let Some(quota) = self.quota
                        && has(session, self, quota).await?
                    {
                        return Err(over_quota(quota).into());
                    }
                    // It was swept between the two statements, or a task of its
                    // owner has ended.
                }
            }
        }
    }
}

/// Returns whether the owner of `task` has `quota` unfinished tasks.
async fn has(session: &Session<'_>, task: &NewTask, quota: u32) -> Result<bool, Failure> {
    let statement = Statement::new(
        "SELECT count(*) AS found FROM (
            SELECT 1 FROM @task
            WHERE principal = $1 AND status IN ('working', 'input_required') LIMIT $2
         ) AS unfinished",
    )
    .with(task.principal.as_bytes().as_slice())
    .with(i64::from(quota));
    let rows = session.run(statement).await?;
    let found = rows.first().map_or(Ok(0), |row| number(row, "found"))?;
    Ok(found >= quota)
}

fn created(task: &NewTask, row: &Row) -> Result<Summary, Error> {
    let created_at = time(row, "created_at")?;
    let status = Control::created(0, created_at).status;
    let mut summary = Summary::new(task.id, task.target.clone(), status, created_at);
    summary.note.clone_from(&task.note);
    summary.expires_at = maybe_time(row, "expires_at")?;
    Ok(summary)
}

/// Everything in one statement, which is one transaction and one round trip.
fn insert<'a>(task: &'a NewTask, journal: &[&'a Entry]) -> Statement<'a> {
    let (keys, values) = columns(journal.iter().copied());
    let control = Control::created(count(journal.len()), UnixMillis::default());
    Statement::new(concat!(
        "WITH clock AS (SELECT ",
        now!(),
        " AS now), created AS (
            INSERT INTO @task
            SELECT $1, $2, $3, $4, $5, $6, now, now, now + $7, 0, NULL, now, 0, $8, 0, 0, 0
            FROM clock
            WHERE $12::bigint IS NULL OR $12 > (
                SELECT count(*) FROM (
                    SELECT 1 FROM @task
                    WHERE principal = $2 AND status IN ('working', 'input_required') LIMIT $12
                ) AS unfinished
            )
            ON CONFLICT (id) DO NOTHING
            RETURNING id, created_at, expires_at
         ), carried AS (
            INSERT INTO @payload (task, request) SELECT id, $9 FROM created
         ), continued AS (
            INSERT INTO @entry
            SELECT id, seq - 1, key, value
            FROM created, unnest($10, $11) WITH ORDINALITY AS journal (key, value, seq)
         )
         SELECT created_at, expires_at FROM created"
    ))
    .with(task.id.as_bytes().as_slice())
    .with(task.principal.as_bytes().as_slice())
    .with(task.flow.as_bytes().as_slice())
    .with(task.target.as_str())
    .with(control.status.as_str())
    .with(task.note.as_ref().map(Note::as_str))
    .with(task.ttl.map(UnixMillis::span))
    .with(i64::from(control.entries))
    .with(&task.request[..])
    .with(keys)
    .with(values)
    .with(task.quota.map(i64::from))
}

/// Appends to a journal that has `before` entries.
pub(super) fn append<'a>(id: &'a TaskId, before: u32, entries: &[&'a Entry]) -> Statement<'a> {
    let (keys, values) = columns(entries.iter().copied());
    Statement::new(
        "INSERT INTO @entry
         SELECT $1, $2 + seq - 1, key, value
         FROM unnest($3, $4) WITH ORDINALITY AS journal (key, value, seq)",
    )
    .with(id.as_bytes().as_slice())
    .with(i64::from(before))
    .with(keys)
    .with(values)
}

fn columns<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> (Vec<&'a str>, Vec<&'a [u8]>) {
    entries
        .into_iter()
        .map(|entry| (entry.key.as_str(), &entry.value[..]))
        .unzip()
}
