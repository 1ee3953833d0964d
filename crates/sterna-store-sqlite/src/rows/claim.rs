//! Workers find work and keep it.

use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use sterna_store::{Claim, Claimed, Entry, Error, Lease, News, Targets, TaskId, UnixMillis};

use super::codec::{bytes, name};
use super::head::Head;
use super::inbox::{self, select};
use crate::error::{damaged, explain, gone};

pub(crate) fn claim(
    connection: &Connection,
    claim: &Claim,
    now: UnixMillis,
) -> Result<Vec<Claimed>, Error> {
    let mut claimed = Vec::new();
    for mut head in due(connection, claim, now)? {
        head.control.claim(now, claim.length);
        head.worker = Some(claim.worker.as_str().to_owned());
        head.save(connection)?;
        claimed.push(open(connection, &head)?);
    }
    Ok(claimed)
}

/// The tasks that want a worker, longest waiting first.
fn due(connection: &Connection, claim: &Claim, now: UnixMillis) -> Result<Vec<Head>, Error> {
    let mut values = vec![Value::from(now.get())];
    let mut sql = "SELECT * FROM sterna_task WHERE due_at <= ?".to_owned();
    if let Targets::Only(targets) = &claim.targets {
        let marks = vec!["?"; targets.len()].join(", ");
        sql.push_str(&format!(" AND target IN ({marks})"));
        let texts = targets.iter().map(|target| target.as_str().to_owned());
        values.extend(texts.map(Value::from));
    }
    sql.push_str(" ORDER BY due_at, id LIMIT ?");
    values.push(Value::from(i64::from(claim.limit)));
    let mut statement = connection.prepare_cached(&sql).map_err(explain)?;
    let mut rows = statement.query(params_from_iter(values)).map_err(explain)?;
    let mut due = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        due.push(Head::from_row(row)?);
    }
    Ok(due)
}

/// Everything a worker needs to go on with a task.
fn open(connection: &Connection, head: &Head) -> Result<Claimed, Error> {
    let request = request(connection, head.id)?;
    let lease = Lease::new(head.id, head.control.fence);
    let mut claimed = Claimed::new(lease, head.summary(), head.flow, request);
    let sql = "SELECT key, value FROM sterna_entry WHERE task = ?1 ORDER BY seq";
    claimed.journal = select(connection, sql, head.id, |row| {
        Ok(Entry::new(name(row, "key")?, bytes(row, "value")?))
    })?;
    claimed.asked = inbox::asked(connection, head.id)?;
    claimed.answers = inbox::unread(connection, head)?;
    claimed.attempt = head.control.attempts;
    Ok(claimed)
}

fn request(connection: &Connection, id: TaskId) -> Result<bytes::Bytes, Error> {
    let sql = "SELECT request FROM sterna_payload WHERE task = ?1";
    let found = select(connection, sql, id, |row| bytes(row, "request"))?;
    found
        .into_iter()
        .next()
        .ok_or_else(|| damaged("a task in the database has lost its request"))
}

pub(crate) fn renew(
    connection: &Connection,
    lease: Lease,
    length: Duration,
    now: UnixMillis,
) -> Result<News, Error> {
    let mut head = Head::load(connection, lease.task)?.ok_or_else(gone)?;
    head.control.renew(lease.fence, now, length)?;
    head.save(connection)?;
    inbox::news(connection, &head)
}
