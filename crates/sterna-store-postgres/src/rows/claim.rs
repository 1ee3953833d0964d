//! Workers find work and keep it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use sterna_store::machine::turns;
use sterna_store::{
    Answer, Asked, Claim, Claimed, Entry, Error, Lease, Name, Owner, Targets, TaskId, TaskUpdate,
    UnixMillis,
};
use tokio_postgres::Row;

use super::codec::{array, bytes, get, name};
use super::damage::Damage;
use super::head::Head;
use super::locked::LockedTask;
use super::verb::Verb;
use super::writes::Writes;
use super::{Operation, inbox, now};
use crate::error::{Failure, damaged, gone};
use crate::session::Session;
use crate::statement::Statement;

/// Gives tasks to a worker, and sets those aside that cannot be read.
impl Operation for Claim {
    type Output = (Vec<Claimed>, Vec<Damage>);

    async fn run(&self, session: &Session<'_>) -> Result<Self::Output, Failure> {
        let (mut heads, mut damages) = (Vec::new(), Vec::new());
        let chosen = choose(session, self, &mut damages).await?;
        if chosen.is_empty() && damages.is_empty() {
            return Ok((Vec::new(), damages));
        }
        let rows = session.begin([lock_due(&chosen, self.limit)]).await?;
        for row in rows.iter().flatten() {
            match Head::from_row(row) {
                Ok(mut head) => {
                    head.control.claim(head.now, self.length);
                    heads.push(head);
                }
                Err(error) => damages.push(Damage::of(row, error)),
            }
        }
        if heads.is_empty() {
            session.commit(Damage::set_aside(&damages)).await?;
            return Ok((Vec::new(), damages));
        }
        let ids: Vec<_> = heads.iter().map(|head| head.id).collect();
        let taken = [
            take(&heads, &self.worker),
            requests(&ids),
            journals(&ids),
            questions(&ids),
            answers(&ids),
        ];
        let rows = session
            .commit(taken.into_iter().chain(Damage::set_aside(&damages)))
            .await?;
        let mut claimed = Vec::with_capacity(heads.len());
        let mut unread = Vec::new();
        let mut parts = Parts::new(&rows)?;
        for head in &heads {
            match parts.open(head) {
                Ok(opened) => claimed.push(opened),
                Err(error) => unread.push(Damage::new(head.id.as_bytes().to_vec(), error)),
            }
        }
        if let Some(statement) = Damage::set_aside(&unread) {
            session.run(statement).await?;
        }
        damages.extend(unread);
        Ok((claimed, damages))
    }
}

/// The ids of tasks that want a worker, in the order in which they get one:
/// owner by owner in turn, those of an owner longest waiting first. Nothing is
/// locked yet, so there are more than are wanted.
///
/// Usually all tasks that are due are among the oldest. If there are more, those
/// of one owner may hide the others, so the owners whose turn is next are looked
/// at besides.
async fn choose(
    session: &Session<'_>,
    claim: &Claim,
    damages: &mut Vec<Damage>,
) -> Result<Vec<Vec<u8>>, Failure> {
    if claim.limit == 0 {
        return Ok(Vec::new());
    }
    let mut rows = session.run(oldest(claim)).await?;
    if rows.len() >= WINDOW {
        rows.extend(session.run(next_owners(claim)).await?);
    }
    let (mut due, mut seen) = (Vec::new(), BTreeSet::new());
    for row in &rows {
        let id: &[u8] = get(row, "id")?;
        if seen.insert(id) {
            match array(row, "principal") {
                Ok(owner) => due.push((Owner::from_digest(owner), id.to_vec())),
                Err(error) => damages.push(Damage::of(row, error)),
            }
        }
    }
    let turns = turns(due, claim.after, u32::MAX);
    Ok(turns.into_iter().map(|(_, id)| id).collect())
}

/// The tasks that have waited longest.
fn oldest(claim: &Claim) -> Statement<'_> {
    Statement::new(concat!(
        "SELECT id, principal FROM @task
         WHERE due_at <= ",
        now!(),
        " AND ($1::text[] IS NULL OR target = ANY ($1)) AND id <> ALL ($3)
         ORDER BY due_at LIMIT greatest($2, 64)"
    ))
    .with(targets(claim))
    .with(i64::from(claim.limit))
    .with(held(claim))
}

/// The longest waiting tasks of the owners that follow the one that had the
/// last turn, as many owners as tasks are wanted. Each is found by one look into
/// the index of turns.
fn next_owners(claim: &Claim) -> Statement<'_> {
    let after = claim
        .after
        .as_ref()
        .map_or(&[][..], |after| after.as_bytes());
    Statement::new(concat!(
        "WITH RECURSIVE owner (principal, first, number) AS (
            SELECT $4::bytea, NULL::bytea, 0::bigint
            UNION ALL
            SELECT next.principal, coalesce(first, next.principal), number + 1
            FROM owner CROSS JOIN LATERAL (SELECT coalesce(
                (SELECT task.principal FROM @task AS task
                 WHERE task.principal > owner.principal AND due_at <= ",
        now!(),
        "         AND ($1::text[] IS NULL OR target = ANY ($1)) AND id <> ALL ($3)
                 ORDER BY task.principal, due_at LIMIT 1),
                (SELECT task.principal FROM @task AS task
                 WHERE due_at <= ",
        now!(),
        "         AND ($1::text[] IS NULL OR target = ANY ($1)) AND id <> ALL ($3)
                 ORDER BY task.principal, due_at LIMIT 1)
            ) AS principal) AS next
            WHERE number < least($2, 32) AND next.principal IS DISTINCT FROM first
         )
         SELECT due.* FROM (SELECT DISTINCT principal FROM owner WHERE number > 0) AS turn
         CROSS JOIN LATERAL (
            SELECT id, principal FROM @task AS task
            WHERE task.principal = turn.principal AND due_at <= ",
        now!(),
        "    AND ($1::text[] IS NULL OR target = ANY ($1)) AND id <> ALL ($3)
            ORDER BY due_at LIMIT $2
         ) AS due"
    ))
    .with(targets(claim))
    .with(i64::from(claim.limit))
    .with(held(claim))
    .with(after)
}

/// The first of `ids` that are still due, without those that another worker is
/// about to take.
fn lock_due(ids: &[Vec<u8>], limit: u32) -> Statement<'_> {
    let ids: Vec<_> = ids.iter().map(Vec::as_slice).collect();
    Statement::new(concat!(
        "SELECT task.*, ",
        now!(),
        " AS now FROM @task AS task
         WHERE id = ANY ($1) AND due_at <= ",
        now!(),
        " ORDER BY array_position($1, id) LIMIT $2 FOR UPDATE SKIP LOCKED"
    ))
    .with(ids)
    .with(i64::from(limit))
}

fn targets(claim: &Claim) -> Option<Vec<&str>> {
    match &claim.targets {
        Targets::Only(targets) => Some(targets.iter().map(Name::as_str).collect()),
        _ => None,
    }
}

fn held(claim: &Claim) -> Vec<&[u8]> {
    let held = claim.held.iter();
    held.map(|id| id.as_bytes().as_slice()).collect()
}

fn take<'a>(heads: &'a [Head], worker: &'a Name) -> Statement<'a> {
    let ids: Vec<_> = heads
        .iter()
        .map(|head| head.id.as_bytes().as_slice())
        .collect();
    let fences: Vec<_> = heads
        .iter()
        .map(|head| head.control.fence.get().cast_signed())
        .collect();
    let dues: Vec<_> = heads
        .iter()
        .map(|head| head.control.due_at.map_or(i64::MAX, UnixMillis::get))
        .collect();
    let attempts: Vec<_> = heads
        .iter()
        .map(|head| i64::from(head.control.attempts))
        .collect();
    Statement::new(
        "UPDATE @task AS task
         SET fence = taken.fence, due_at = taken.due_at, attempts = taken.attempts, worker = $1
         FROM unnest($2, $3, $4, $5) AS taken (id, fence, due_at, attempts)
         WHERE task.id = taken.id",
    )
    .with(worker.as_str())
    .with(ids)
    .with(fences)
    .with(dues)
    .with(attempts)
}

fn requests(ids: &[TaskId]) -> Statement<'_> {
    of_tasks(
        "SELECT task, request FROM @payload WHERE task = ANY ($1)",
        ids,
    )
}

fn journals(ids: &[TaskId]) -> Statement<'_> {
    of_tasks(
        "SELECT task, key, value FROM @entry WHERE task = ANY ($1) ORDER BY task, seq",
        ids,
    )
}

fn questions(ids: &[TaskId]) -> Statement<'_> {
    of_tasks(
        "SELECT task, key, fingerprint, phase FROM @question
         WHERE task = ANY ($1) ORDER BY task, position",
        ids,
    )
}

fn answers(ids: &[TaskId]) -> Statement<'_> {
    of_tasks(
        "SELECT task, key, response FROM @question
         WHERE task = ANY ($1) AND phase = 'answered' ORDER BY task, heard",
        ids,
    )
}

fn of_tasks<'a>(sql: &'static str, ids: &'a [TaskId]) -> Statement<'a> {
    let ids: Vec<_> = ids.iter().map(|id| id.as_bytes().as_slice()).collect();
    Statement::new(sql).with(ids)
}

/// The rows of [`take`] and the statements after it, by task.
struct Parts {
    requests: ByTask<Bytes>,
    journals: ByTask<Entry>,
    questions: ByTask<Asked>,
    answers: ByTask<Answer>,
}

impl Parts {
    fn new(rows: &[Vec<Row>]) -> Result<Self, Failure> {
        let [_, requests, journals, questions, answers, ..] = rows else {
            return Err(damaged("a statement of the store brought nothing").into());
        };
        Ok(Self {
            requests: by_task(requests, |row| bytes(row, "request"))?,
            journals: by_task(journals, |row| {
                Ok(Entry::new(name(row, "key")?, bytes(row, "value")?))
            })?,
            questions: by_task(questions, inbox::asked)?,
            answers: by_task(answers, inbox::answer)?,
        })
    }

    /// Everything a worker needs to go on with a task.
    fn open(&mut self, head: &Head) -> Result<Claimed, Error> {
        let lost = || damaged("a task in the database has lost its request");
        let request = part(&mut self.requests, head.id)?.pop().ok_or_else(lost)?;
        let lease = Lease::new(head.id, head.control.fence);
        let mut opened = Claimed::new(lease, head.summary(), head.principal, head.flow, request);
        opened.journal = part(&mut self.journals, head.id)?;
        opened.asked = part(&mut self.questions, head.id)?;
        opened.answers = part(&mut self.answers, head.id)?;
        opened.attempt = head.control.attempts;
        Ok(opened)
    }
}

/// The rows of each task, or the error of reading them.
type ByTask<T> = BTreeMap<TaskId, Result<Vec<T>, Error>>;

fn part<T>(parts: &mut ByTask<T>, id: TaskId) -> Result<Vec<T>, Error> {
    parts.remove(&id).unwrap_or_else(|| Ok(Vec::new()))
}

fn by_task<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T, Error>) -> Result<ByTask<T>, Error> {
    let mut found: ByTask<T> = BTreeMap::new();
    for row in rows {
        let id = TaskId::from_bytes(array(row, "task")?);
        let part = found.entry(id).or_insert_with(|| Ok(Vec::new()));
        match (&mut *part, read(row)) {
            (Ok(read), Ok(one)) => read.push(one),
            (_, Err(error)) => *part = Err(error),
            (Err(_), Ok(_)) => {}
        }
    }
    Ok(found)
}

/// Extends a lease.
pub(crate) struct Renew {
    pub(crate) lease: Lease,
    pub(crate) length: Duration,
}

impl Verb for Renew {
    type Output = TaskUpdate;

    fn task(&self) -> &TaskId {
        &self.lease.task
    }

    fn reads_questions(&self) -> bool {
        true
    }

    fn decide(&self, task: Option<LockedTask>, writes: &mut Writes) -> Result<TaskUpdate, Error> {
        let mut task = task.ok_or_else(gone)?;
        let unread = task.unread(&[])?;
        let mut head = task.head;
        head.control
            .renew(self.lease.fence, head.now, self.length)?;
        let status = head.control.status;
        writes.save(head);
        Ok(TaskUpdate::new(status, unread))
    }
}

/// So many tasks that have waited longest are looked at, at least.
const WINDOW: usize = 64;
