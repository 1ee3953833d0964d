//! A worker writes progress and gives the task back.

use std::collections::BTreeMap;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension};
use sterna_store::machine::{Changes, Known};
use sterna_store::{
    Commit, Error, Lease, Name, Passivated, Passivation, Phase, TaskId, TaskUpdate, UnixMillis,
};

use super::create::append_entries;
use super::head::Head;
use super::inbox;
use crate::error::{explain, gone};

pub(crate) fn append(
    connection: &Connection,
    lease: Lease,
    commit: &Commit,
    now: UnixMillis,
) -> Result<TaskUpdate, Error> {
    let mut head = Head::load(connection, lease.task)?.ok_or_else(gone)?;
    write(connection, &mut head, lease, commit, now)?;
    head.save(connection)?;
    inbox::news(connection, &head)
}

pub(crate) fn passivate(
    connection: &Connection,
    lease: Lease,
    commit: &Commit,
    rest: Passivation,
    now: UnixMillis,
) -> Result<Passivated, Error> {
    let mut head = Head::load(connection, lease.task)?.ok_or_else(gone)?;
    write(connection, &mut head, lease, commit, now)?;
    let parked = head.control.rest(lease.fence, now, rest)?;
    head.save(connection)?;
    if parked {
        Ok(Passivated::Parked)
    } else {
        Ok(Passivated::Refused(inbox::news(connection, &head)?))
    }
}

fn write(
    connection: &Connection,
    head: &mut Head,
    lease: Lease,
    commit: &Commit,
    now: UnixMillis,
) -> Result<(), Error> {
    let before = head.control.entries;
    let known = known(connection, lease.task, commit)?;
    let changes = head.control.commit(lease.fence, &known, commit)?;
    append_entries(connection, head.id, before, changes.append.iter().copied())?;
    write_questions(connection, head.id, &changes)?;
    let note = commit.note.as_ref();
    let noted = note.is_some() && note != head.note.as_ref();
    if noted {
        head.note = note.cloned();
    }
    if noted || changes.are_visible() {
        head.updated_at = now;
    }
    Ok(())
}

fn known(connection: &Connection, id: TaskId, commit: &Commit) -> Result<Known, Error> {
    let mut values = BTreeMap::new();
    let mut statement = connection
        .prepare_cached("SELECT value FROM sterna_entry WHERE task = ?1 AND key = ?2")
        .map_err(explain)?;
    for entry in &commit.entries {
        let value: Option<Vec<u8>> = statement
            .query_row((id.as_bytes(), entry.key.as_str()), |row| row.get(0))
            .optional()
            .map_err(explain)?;
        values.extend(value.map(|value| (entry.key.clone(), Bytes::from(value))));
    }
    let asked = if commit.open.is_none() && commit.taken.is_empty() {
        Vec::new()
    } else {
        inbox::asked(connection, id)?
    };
    Ok(Known::new(values, asked))
}

fn write_questions(
    connection: &Connection,
    id: TaskId,
    changes: &Changes<'_>,
) -> Result<(), Error> {
    let mut ask = connection
        .prepare_cached(
            "INSERT INTO sterna_question (task, key, position, fingerprint, phase, request)
             VALUES (?1, ?2, (SELECT count(*) FROM sterna_question WHERE task = ?1), ?3, 'open', ?4)",
        )
        .map_err(explain)?;
    for question in &changes.ask {
        let (key, request) = (question.key.as_str(), &question.request[..]);
        ask.execute((id.as_bytes(), key, question.fingerprint, request))
            .map_err(explain)?;
    }
    let taken = changes.take.iter().map(|key| (*key, Phase::Taken));
    let opened = changes.reopen.iter().map(|key| (*key, Phase::Open));
    let withdrawn = changes.withdraw.iter().map(|key| (key, Phase::Withdrawn));
    for (key, phase) in taken.chain(opened).chain(withdrawn) {
        set_phase(connection, id, key, phase)?;
    }
    Ok(())
}

fn set_phase(connection: &Connection, id: TaskId, key: &Name, phase: Phase) -> Result<(), Error> {
    connection
        .prepare_cached("UPDATE sterna_question SET phase = ?3 WHERE task = ?1 AND key = ?2")
        .and_then(|mut statement| statement.execute((id.as_bytes(), key.as_str(), phase.as_str())))
        .map_err(explain)?;
    Ok(())
}
