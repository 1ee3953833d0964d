//! Workers find work and keep it.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use sterna_store::machine::turns;
use sterna_store::{
    Claim, Claimed, Entry, Error, Lease, Owner, Targets, TaskId, TaskUpdate, UnixMillis,
};

use super::codec::{array, bytes, get, name};
use super::damage::Damage;
use super::head::Head;
use super::inbox::{self, select};
use crate::error::{damaged, explain, gone};

/// Gives tasks to a worker, and sets those aside that cannot be read.
///
/// A lease has ended if it ended before `leases`, anything else is due `now`.
pub(crate) fn claim(
    connection: &Connection,
    claim: &Claim,
    now: UnixMillis,
    leases: UnixMillis,
) -> Result<(Vec<Claimed>, Vec<Damage>), Error> {
    let due = Due::new(claim, now, leases);
    let (mut claimed, mut damages) = (Vec::new(), Vec::new());
    let mut candidates = Vec::new();
    for (row, owner) in due.candidates(connection)? {
        match owner {
            Ok(owner) => candidates.push((owner, row)),
            Err(error) => damages.push(Damage::set_aside(connection, row, error, now)?),
        }
    }
    for (_, row) in turns(candidates, claim.after, claim.limit) {
        match take(connection, row, claim, now) {
            Ok(task) => claimed.push(task),
            Err(error) => damages.push(Damage::set_aside(connection, row, error, now)?),
        }
    }
    Ok((claimed, damages))
}

fn take(
    connection: &Connection,
    row: i64,
    claim: &Claim,
    now: UnixMillis,
) -> Result<Claimed, Error> {
    let mut head = Head::at(connection, row)?.ok_or_else(gone)?;
    head.control.claim(now, claim.length);
    head.worker = Some(claim.worker.as_str().to_owned());
    head.save(connection)?;
    open(connection, &head)
}

/// A row of a task, and its owner if that can be read.
type Candidate = (i64, Result<Owner, Error>);

/// The condition under which a task is given to a worker.
struct Due<'a> {
    claim: &'a Claim,
    sql: String,
    values: Vec<Value>,
}

impl<'a> Due<'a> {
    fn new(claim: &'a Claim, now: UnixMillis, leases: UnixMillis) -> Self {
        let mut sql = "due_at <= ? AND (worker IS NULL OR due_at <= ?)".to_owned();
        let mut values = vec![Value::from(now.get()), Value::from(leases.get())];
        let mut among = |column: &str, mut found: Vec<Value>| {
            // A few texts for all lengths, so that they stay prepared.
            if let Some(last) = found.last().cloned() {
                found.resize(found.len().next_power_of_two(), last);
            }
            let marks = vec!["?"; found.len()].join(", ");
            sql.push_str(&format!(" AND {column} ({marks})"));
            values.extend(found);
        };
        if let Targets::Only(targets) = &claim.targets {
            let texts = targets.iter().map(|target| target.as_str().to_owned());
            among("target IN", texts.map(Value::from).collect());
        }
        if !claim.held.is_empty() {
            let ids = claim.held.iter().map(|id| id.as_bytes().to_vec());
            among("id NOT IN", ids.map(Value::from).collect());
        }
        Self { claim, sql, values }
    }

    /// Enough tasks to choose from, those of an owner longest waiting first.
    ///
    /// Usually that is all there are. If there are many, those of one owner may
    /// hide the others, so the owners whose turn is next are looked at besides.
    fn candidates(&self, connection: &Connection) -> Result<Vec<Candidate>, Error> {
        if self.claim.limit == 0 {
            return Ok(Vec::new());
        }
        let mut found = self.select(connection, None, WINDOW.max(self.claim.limit))?;
        if u32::try_from(found.len()).unwrap_or(u32::MAX) < WINDOW {
            return Ok(found);
        }
        let mut seen: BTreeSet<i64> = found.iter().map(|(row, _)| *row).collect();
        for owner in self.next_owners(connection)? {
            let more = self.select(connection, Some(&owner), self.claim.limit)?;
            found.extend(more.into_iter().filter(|(row, _)| seen.insert(*row)));
        }
        Ok(found)
    }

    /// The owners that follow the one that had the last turn, as many as tasks
    /// are wanted. Each is found by one look into the index of turns.
    fn next_owners(&self, connection: &Connection) -> Result<Vec<Vec<u8>>, Error> {
        let sql = format!(
            "SELECT principal FROM sterna_task INDEXED BY sterna_task_turn
             WHERE {} AND principal > ? ORDER BY principal, due_at LIMIT 1",
            self.sql
        );
        let mut statement = connection.prepare_cached(&sql).map_err(explain)?;
        let after = self.claim.after.as_ref();
        let mut last = after.map_or_else(Vec::new, |after| after.as_bytes().to_vec());
        let mut has_wrapped = last.is_empty();
        let wanted = usize::try_from(self.claim.limit).unwrap_or(usize::MAX);
        let mut owners: Vec<Vec<u8>> = Vec::new();
        while owners.len() < wanted.min(OWNERS) {
            let mut values = self.values.clone();
            values.push(Value::from(last.clone()));
            let next: Option<Vec<u8>> = statement
                .query_row(params_from_iter(values), |row| row.get(0))
                .optional()
                .map_err(explain)?;
            match next {
                Some(owner) if owners.first() == Some(&owner) => break,
                Some(owner) => {
                    last.clone_from(&owner);
                    owners.push(owner);
                }
                None if has_wrapped => break,
                None => {
                    has_wrapped = true;
                    last.clear();
                }
            }
        }
        Ok(owners)
    }

    /// Up to `limit` tasks, of one owner or of all, longest waiting first.
    fn select(
        &self,
        connection: &Connection,
        owner: Option<&[u8]>,
        limit: u32,
    ) -> Result<Vec<Candidate>, Error> {
        let Self { sql, values, .. } = self;
        let mut values = values.clone();
        let mut sql = format!("SELECT rowid AS number, principal FROM sterna_task WHERE {sql}");
        if let Some(owner) = owner {
            sql.push_str(" AND principal = ?");
            values.push(Value::from(owner.to_vec()));
        }
        sql.push_str(" ORDER BY due_at, id LIMIT ?");
        values.push(Value::from(i64::from(limit)));
        let mut statement = connection.prepare_cached(&sql).map_err(explain)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(explain)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            let owner = array(row, "principal").map(Owner::from_digest);
            found.push((get(row, "number")?, owner));
        }
        Ok(found)
    }
}

/// Everything a worker needs to go on with a task.
fn open(connection: &Connection, head: &Head) -> Result<Claimed, Error> {
    let request = request(connection, head.id)?;
    let lease = Lease::new(head.id, head.control.fence);
    let mut claimed = Claimed::new(lease, head.summary(), head.principal, head.flow, request);
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
) -> Result<TaskUpdate, Error> {
    let mut head = Head::load(connection, lease.task)?.ok_or_else(gone)?;
    head.control.renew(lease.fence, now, length)?;
    head.save(connection)?;
    inbox::news(connection, &head)
}

/// So many tasks that have waited longest are looked at.
const WINDOW: u32 = 64;

/// So many owners whose turn is next are looked at, at most.
const OWNERS: usize = 32;
