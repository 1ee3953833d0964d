//! A worker writes progress and gives the task back.

use sterna_store::machine::{Changes, Known};
use sterna_store::{
    Commit, Lease, Name, Passivated, Passivation, Phase, Question, TaskId, TaskUpdate,
};
use tokio_postgres::Row;

use super::codec::{bytes, name};
use super::create;
use super::head::{Head, lock};
use super::{Operation, inbox};
use crate::error::{Failure, gone};
use crate::session::Session;
use crate::statement::Statement;

/// Writes progress.
pub(crate) struct Append {
    pub(crate) lease: Lease,
    pub(crate) commit: Commit,
}

impl Operation for Append {
    type Output = TaskUpdate;

    async fn run(&self, session: &Session<'_>) -> Result<TaskUpdate, Failure> {
        let (mut head, known) = read(session, self.lease, &self.commit).await?;
        let before = head.control.entries;
        let changes = head
            .control
            .commit(self.lease.fence, &known, &self.commit)?;
        touch(&mut head, &changes, &self.commit);
        let mut statements = writes(&head.id, before, &changes);
        statements.extend([head.save(), inbox::select_unread(&head.id)]);
        news(&head, &session.commit(statements).await?)
    }
}

/// Writes progress and gives the task back.
pub(crate) struct Passivate {
    pub(crate) lease: Lease,
    pub(crate) commit: Commit,
    pub(crate) rest: Passivation,
}

impl Operation for Passivate {
    type Output = Passivated;

    async fn run(&self, session: &Session<'_>) -> Result<Passivated, Failure> {
        let (mut head, known) = read(session, self.lease, &self.commit).await?;
        let before = head.control.entries;
        let changes = head
            .control
            .commit(self.lease.fence, &known, &self.commit)?;
        let parked = head.control.rest(self.lease.fence, head.now, self.rest)?;
        touch(&mut head, &changes, &self.commit);
        let mut statements = writes(&head.id, before, &changes);
        statements.extend([head.save(), inbox::select_unread(&head.id)]);
        let rows = session.commit(statements).await?;
        if parked {
            Ok(Passivated::Parked)
        } else {
            Ok(Passivated::Refused(news(&head, &rows)?))
        }
    }
}

/// Locks the task and reads the rows that the commit touches, in one round trip.
/// The rows are read under the lock.
async fn read(
    session: &Session<'_>,
    lease: Lease,
    commit: &Commit,
) -> Result<(Head, Known), Failure> {
    let keys: Vec<_> = commit
        .entries
        .iter()
        .map(|entry| entry.key.as_str())
        .collect();
    let mut statements = vec![lock(&lease.task), values(&lease.task, keys)];
    if commit.open.is_some() || !commit.taken.is_empty() {
        statements.push(inbox::select_asked(&lease.task));
    }
    let rows = session.begin(statements).await?;
    let head = Head::first(&rows[0])?.ok_or_else(gone)?;
    let mut known = Known::default();
    for row in &rows[1] {
        known.values.insert(name(row, "key")?, bytes(row, "value")?);
    }
    for row in rows.iter().skip(2).flatten() {
        known.asked.push(inbox::asked(row)?);
    }
    Ok((head, known))
}

fn values<'a>(id: &'a TaskId, keys: Vec<&'a str>) -> Statement<'a> {
    Statement::new("SELECT key, value FROM @entry WHERE task = $1 AND key = ANY ($2)")
        .with(id.as_bytes().as_slice())
        .with(keys)
}

/// Updates the time of the last change that a client can see.
fn touch(head: &mut Head, changes: &Changes<'_>, commit: &Commit) {
    let note = commit.note.as_ref();
    let noted = note.is_some() && note != head.note.as_ref();
    if noted {
        head.note = note.cloned();
    }
    if noted || changes.are_visible() {
        head.updated_at = head.now;
    }
}

fn writes<'a>(id: &'a TaskId, before: u32, changes: &'a Changes<'_>) -> Vec<Statement<'a>> {
    let mut statements = Vec::new();
    if !changes.append.is_empty() {
        statements.push(create::append(id, before, &changes.append));
    }
    if !changes.ask.is_empty() {
        statements.push(ask(id, &changes.ask));
    }
    let taken = changes.take.iter().copied().map(Name::as_str).collect();
    let opened = changes.reopen.iter().copied().map(Name::as_str).collect();
    let withdrawn = changes.withdraw.iter().map(Name::as_str).collect();
    for (keys, phase) in [
        (taken, Phase::Taken),
        (opened, Phase::Open),
        (withdrawn, Phase::Withdrawn),
    ] {
        statements.extend(set_phase(id, keys, phase));
    }
    statements
}

fn ask<'a>(id: &'a TaskId, questions: &[&'a Question]) -> Statement<'a> {
    let keys: Vec<_> = questions
        .iter()
        .map(|question| question.key.as_str())
        .collect();
    let fingerprints: Vec<_> = questions
        .iter()
        .map(|question| question.fingerprint.as_slice())
        .collect();
    let requests: Vec<_> = questions
        .iter()
        .map(|question| &question.request[..])
        .collect();
    Statement::new(
        "INSERT INTO @question (task, key, position, fingerprint, phase, request)
         SELECT $1, key, (SELECT count(*) FROM @question WHERE task = $1) + seq,
                fingerprint, 'open', request
         FROM unnest($2, $3, $4) WITH ORDINALITY AS asked (key, fingerprint, request, seq)",
    )
    .with(id.as_bytes().as_slice())
    .with(keys)
    .with(fingerprints)
    .with(requests)
}

fn set_phase<'a>(id: &'a TaskId, keys: Vec<&'a str>, phase: Phase) -> Option<Statement<'a>> {
    let statement =
        Statement::new("UPDATE @question SET phase = $3 WHERE task = $1 AND key = ANY ($2)");
    (!keys.is_empty()).then(|| {
        statement
            .with(id.as_bytes().as_slice())
            .with(keys)
            .with(phase.as_str())
    })
}

/// The news, from the rows of a transaction whose last statement before the
/// commit selected the answers.
fn news(head: &Head, rows: &[Vec<Row>]) -> Result<TaskUpdate, Failure> {
    let answers = rows.iter().rev().nth(1).map_or(&[][..], Vec::as_slice);
    Ok(TaskUpdate::new(
        head.control.status,
        inbox::unread(answers)?,
    ))
}
