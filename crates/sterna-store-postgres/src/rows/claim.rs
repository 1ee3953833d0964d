//! Workers find work and keep it.

use std::collections::BTreeMap;
use std::time::Duration;

use sterna_store::{Claim, Claimed, Entry, Error, Lease, Name, News, Targets, TaskId, UnixMillis};
use tokio_postgres::Row;

use super::codec::{array, bytes, name};
use super::head::{Head, lock};
use super::{Operation, inbox, now};
use crate::error::{Failure, damaged, gone};
use crate::session::Session;
use crate::statement::Statement;

impl Operation for Claim {
    type Output = Vec<Claimed>;

    async fn run(&self, session: &Session<'_>) -> Result<Vec<Claimed>, Failure> {
        let rows = session.begin([due(self)]).await?;
        let mut heads = Vec::new();
        for row in rows.iter().flatten() {
            let mut head = Head::from_row(row)?;
            head.control.claim(head.now, self.length);
            heads.push(head);
        }
        if heads.is_empty() {
            session.commit([]).await?;
            return Ok(Vec::new());
        }
        let ids: Vec<_> = heads.iter().map(|head| head.id).collect();
        let rows = session
            .commit([
                take(&heads, &self.worker),
                requests(&ids),
                journals(&ids),
                questions(&ids),
                answers(&ids),
            ])
            .await?;
        open(&heads, &rows)
    }
}

/// The tasks that want a worker, longest waiting first, without those that
/// somebody else is about to take.
fn due(claim: &Claim) -> Statement<'_> {
    let targets = match &claim.targets {
        Targets::Only(targets) => Some(targets.iter().map(Name::as_str).collect::<Vec<_>>()),
        _ => None,
    };
    Statement::new(concat!(
        "SELECT task.*, ",
        now!(),
        " AS now FROM @task AS task
         WHERE due_at <= ",
        now!(),
        " AND ($1::text[] IS NULL OR target = ANY ($1))
         ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED"
    ))
    .with(targets)
    .with(i64::from(claim.limit))
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

/// Everything a worker needs to go on, from what [`take`] and the statements
/// after it brought.
fn open(heads: &[Head], rows: &[Vec<Row>]) -> Result<Vec<Claimed>, Failure> {
    let [_, requests, journals, questions, answers, ..] = rows else {
        return Err(damaged("a statement of the store brought nothing").into());
    };
    let mut requests = by_task(requests, |row| bytes(row, "request"))?;
    let mut journals = by_task(journals, |row| {
        Ok(Entry::new(name(row, "key")?, bytes(row, "value")?))
    })?;
    let mut questions = by_task(questions, inbox::asked)?;
    let mut answers = by_task(answers, inbox::answer)?;
    let mut claimed = Vec::with_capacity(heads.len());
    for head in heads {
        let lost = || damaged("a task in the database has lost its request");
        let request = requests.remove(&head.id).and_then(|mut found| found.pop());
        let lease = Lease::new(head.id, head.control.fence);
        let request = request.ok_or_else(lost)?;
        let mut opened = Claimed::new(lease, head.summary(), head.flow, request);
        opened.journal = journals.remove(&head.id).unwrap_or_default();
        opened.asked = questions.remove(&head.id).unwrap_or_default();
        opened.answers = answers.remove(&head.id).unwrap_or_default();
        opened.attempt = head.control.attempts;
        claimed.push(opened);
    }
    Ok(claimed)
}

fn by_task<T>(
    rows: &[Row],
    read: impl Fn(&Row) -> Result<T, Error>,
) -> Result<BTreeMap<TaskId, Vec<T>>, Error> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in rows {
        let id = TaskId::from_bytes(array(row, "task")?);
        found.entry(id).or_default().push(read(row)?);
    }
    Ok(found)
}

/// Extends a lease.
pub(crate) struct Renew {
    pub(crate) lease: Lease,
    pub(crate) length: Duration,
}

impl Operation for Renew {
    type Output = News;

    async fn run(&self, session: &Session<'_>) -> Result<News, Failure> {
        let rows = session.begin([lock(&self.lease.task)]).await?;
        let mut head = Head::first(&rows[0])?.ok_or_else(gone)?;
        head.control
            .renew(self.lease.fence, head.now, self.length)?;
        let rows = session
            .commit([head.save(), inbox::select_unread(&head.id)])
            .await?;
        Ok(News::new(head.control.status, inbox::unread(&rows[1])?))
    }
}
