//! The questions of a task and their answers.

use sterna_store::{Answer, Answered, Asked, Error, Owner, Question, TaskId};
use tokio_postgres::Row;

use super::Operation;
use super::codec::{array, bytes, count, name, phase};
use super::head::{Head, lock};
use crate::error::Failure;
use crate::session::Session;
use crate::statement::Statement;

/// Answers questions of a task, and notifies the listeners.
pub(crate) struct WriteAnswers {
    pub(crate) caller: Owner,
    pub(crate) task: TaskId,
    pub(crate) answers: Vec<Answer>,
    pub(crate) channel: String,
}

impl Operation for WriteAnswers {
    type Output = Option<Answered>;

    async fn run(&self, session: &Session<'_>) -> Result<Option<Answered>, Failure> {
        let rows = session
            .begin([lock(&self.task), select_asked(&self.task)])
            .await?;
        let head = Head::first(&rows[0])?;
        let Some(mut head) = head.filter(|head| head.principal == self.caller) else {
            return Ok(None);
        };
        let asked: Result<Vec<_>, _> = rows[1].iter().map(asked).collect();
        let accepted = head.control.answer(&asked?, &self.answers, head.now);
        if accepted.is_empty() {
            return Ok(Some(Answered::new(0, head.control.status)));
        }
        let before = head.heard;
        head.heard = before.saturating_add(count(accepted.len()));
        head.updated_at = head.now;
        let written = write(&self.task, &accepted, before);
        let id = self.task.to_string();
        session
            .commit([written, head.save(), notify(&self.channel, &id)])
            .await?;
        let accepted = count(accepted.len());
        Ok(Some(Answered::new(accepted, head.control.status)))
    }
}

fn write<'a>(id: &'a TaskId, answers: &[&'a Answer], before: u32) -> Statement<'a> {
    let keys: Vec<_> = answers.iter().map(|answer| answer.key.as_str()).collect();
    let responses: Vec<_> = answers.iter().map(|answer| &answer.response[..]).collect();
    Statement::new(
        "UPDATE @question AS question
         SET phase = 'answered', response = told.response, heard = $4 + told.seq
         FROM unnest($2, $3) WITH ORDINALITY AS told (key, response, seq)
         WHERE question.task = $1 AND question.key = told.key",
    )
    .with(id.as_bytes().as_slice())
    .with(keys)
    .with(responses)
    .with(i64::from(before))
}

/// Wakes the listeners once the transaction has committed.
///
/// Only answers and cancels are worth it: PostgreSQL lets one transaction with
/// a notification commit at a time.
pub(super) fn notify<'a>(channel: &'a str, id: &'a str) -> Statement<'a> {
    Statement::new("SELECT pg_notify($1, $2)::text")
        .with(channel)
        .with(id)
}

/// Every question the task ever asked, in that order.
pub(super) fn select_asked(id: &TaskId) -> Statement<'_> {
    Statement::new(
        "SELECT key, fingerprint, phase FROM @question WHERE task = $1 ORDER BY position",
    )
    .with(id.as_bytes().as_slice())
}

pub(super) fn asked(row: &Row) -> Result<Asked, Error> {
    let fingerprint = array(row, "fingerprint")?;
    Ok(Asked::new(
        name(row, "key")?,
        fingerprint,
        phase(row, "phase")?,
    ))
}

/// The questions in `rows`.
pub(super) fn open(rows: &[Row]) -> Result<Vec<Question>, Error> {
    rows.iter()
        .map(|row| {
            let fingerprint = array(row, "fingerprint")?;
            Ok(Question::new(
                name(row, "key")?,
                fingerprint,
                bytes(row, "request")?,
            ))
        })
        .collect()
}

/// The answers that no worker has taken, in the order they came.
pub(super) fn select_unread(id: &TaskId) -> Statement<'_> {
    Statement::new(
        "SELECT key, response FROM @question
         WHERE task = $1 AND phase = 'answered' ORDER BY heard",
    )
    .with(id.as_bytes().as_slice())
}

pub(super) fn unread(rows: &[Row]) -> Result<Vec<Answer>, Error> {
    rows.iter().map(answer).collect()
}

pub(super) fn answer(row: &Row) -> Result<Answer, Error> {
    Ok(Answer::new(name(row, "key")?, bytes(row, "response")?))
}
