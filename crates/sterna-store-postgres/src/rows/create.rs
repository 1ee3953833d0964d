//! A task begins.

use std::collections::BTreeMap;

use sterna_store::machine::{Control, opening, over_quota};
use sterna_store::{Entry, Error, ErrorKind, NewTask, Note, Summary, TaskId, UnixMillis};
use tokio_postgres::Row;

use super::codec::{array, count, maybe_time, number, time};
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
                return Ok(summary(self, row)?);
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

/// Creates `tasks` in one statement, which is one transaction and one round trip.
/// The ids differ. The result of a task that could not be created is `None`: its
/// id is taken or its owner has too many.
pub(crate) async fn create_together(
    session: &Session<'_>,
    tasks: &[&NewTask],
) -> Result<Vec<Option<Summary>>, Failure> {
    let mut wanted = Vec::with_capacity(tasks.len());
    for task in tasks {
        // A journal that contradicts itself is refused when its task is created alone.
        if let Ok(journal) = opening(&task.journal) {
            wanted.push((*task, journal));
        }
    }
    let rows = session.run(insert_together(&wanted)).await?;
    let mut created = BTreeMap::new();
    for row in &rows {
        created.insert(TaskId::from_bytes(array(row, "id")?), row);
    }
    let created = tasks.iter().map(|task| match created.get(&task.id) {
        Some(row) => summary(task, row).map(Some),
        None => Ok(None),
    });
    Ok(created.collect::<Result<_, Error>>()?)
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

fn summary(task: &NewTask, row: &Row) -> Result<Summary, Error> {
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

/// As [`insert`], for many tasks. A quota counts those before it in the statement
/// too.
fn insert_together<'a>(tasks: &[(&'a NewTask, Vec<&'a Entry>)]) -> Statement<'a> {
    let entries: Vec<_> = tasks
        .iter()
        .flat_map(|(task, journal)| {
            let id = task.id.as_bytes().as_slice();
            (0_i64..)
                .zip(journal)
                .map(move |(seq, entry)| (id, seq, *entry))
        })
        .collect();
    Statement::new(concat!(
        "WITH clock AS (SELECT ",
        now!(),
        " AS now), wanted AS (
            SELECT *, row_number() OVER (PARTITION BY principal ORDER BY seq) AS turn
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) WITH ORDINALITY
                AS task (id, principal, flow, target, note, ttl, entries, request, quota, seq)
         ), owner AS (
            SELECT principal, quota, (
                SELECT count(*) FROM (
                    SELECT 1 FROM @task AS task
                    WHERE task.principal = limited.principal
                        AND status IN ('working', 'input_required')
                    LIMIT limited.quota
                ) AS unfinished
            ) AS unfinished
            FROM (SELECT DISTINCT principal, quota FROM wanted WHERE quota IS NOT NULL) AS limited
         ), created AS (
            INSERT INTO @task
            SELECT id, principal, flow, target, $10, note, now, now, now + ttl,
                   0, NULL, now, 0, entries, 0, 0, 0
            FROM clock, wanted
            WHERE quota IS NULL OR quota >= turn + (
                SELECT unfinished FROM owner
                WHERE owner.principal = wanted.principal AND owner.quota = wanted.quota
            )
            ORDER BY seq
            ON CONFLICT (id) DO NOTHING
            RETURNING id, created_at, expires_at
         ), carried AS (
            INSERT INTO @payload (task, request)
            SELECT id, request FROM created JOIN wanted USING (id)
         ), continued AS (
            INSERT INTO @entry
            SELECT task, seq, key, value
            FROM unnest($11, $12, $13, $14) AS journal (task, seq, key, value)
            WHERE task IN (SELECT id FROM created)
         )
         SELECT id, created_at, expires_at FROM created"
    ))
    .with(column(tasks, |task| task.id.as_bytes().as_slice()))
    .with(column(tasks, |task| task.principal.as_bytes().as_slice()))
    .with(column(tasks, |task| task.flow.as_bytes().as_slice()))
    .with(column(tasks, |task| task.target.as_str()))
    .with(column(tasks, |task| task.note.as_ref().map(Note::as_str)))
    .with(column(tasks, |task| task.ttl.map(UnixMillis::span)))
    .with(Vec::from_iter(
        tasks
            .iter()
            .map(|(_, journal)| i64::from(count(journal.len()))),
    ))
    .with(column(tasks, |task| &task.request[..]))
    .with(column(tasks, |task| task.quota.map(i64::from)))
    .with(Control::created(0, UnixMillis::default()).status.as_str())
    .with(Vec::from_iter(entries.iter().map(|(id, ..)| *id)))
    .with(Vec::from_iter(entries.iter().map(|(_, seq, _)| *seq)))
    .with(Vec::from_iter(
        entries.iter().map(|(.., entry)| entry.key.as_str()),
    ))
    .with(Vec::from_iter(
        entries.iter().map(|(.., entry)| &entry.value[..]),
    ))
}

fn column<'a, J, V>(tasks: &[(&'a NewTask, J)], value: impl Fn(&'a NewTask) -> V) -> Vec<V> {
    tasks.iter().map(|(task, _)| value(task)).collect()
}

fn columns<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> (Vec<&'a str>, Vec<&'a [u8]>) {
    entries
        .into_iter()
        .map(|entry| (entry.key.as_str(), &entry.value[..]))
        .unzip()
}
