//! The questions of a task and their answers.

use rusqlite::{Connection, Row};
use sterna_store::{
    Answer, Answered, Asked, Error, Owner, Question, TaskId, TaskUpdate, UnixMillis,
};

use super::codec::{array, bytes, count, name, phase};
use super::head::Head;
use crate::error::explain;

/// Every question the task ever asked, in that order.
pub(super) fn asked(connection: &Connection, id: TaskId) -> Result<Vec<Asked>, Error> {
    let sql = "SELECT key, fingerprint, phase FROM sterna_question
               WHERE task = ?1 ORDER BY position";
    select(connection, sql, id, |row| {
        let fingerprint = array(row, "fingerprint")?;
        Ok(Asked::new(
            name(row, "key")?,
            fingerprint,
            phase(row, "phase")?,
        ))
    })
}

/// The questions that wait for an answer, in the order they were asked.
pub(super) fn open(connection: &Connection, id: TaskId) -> Result<Vec<Question>, Error> {
    let sql = "SELECT key, fingerprint, request FROM sterna_question
               WHERE task = ?1 AND phase = 'open' ORDER BY position";
    select(connection, sql, id, |row| {
        let fingerprint = array(row, "fingerprint")?;
        Ok(Question::new(
            name(row, "key")?,
            fingerprint,
            bytes(row, "request")?,
        ))
    })
}

/// The answers that no worker has taken, in the order they came.
pub(super) fn unread(connection: &Connection, head: &Head) -> Result<Vec<Answer>, Error> {
    if head.control.unread == 0 {
        return Ok(Vec::new());
    }
    let sql = "SELECT key, response FROM sterna_question
               WHERE task = ?1 AND phase = 'answered' ORDER BY heard";
    select(connection, sql, head.id, |row| {
        Ok(Answer::new(name(row, "key")?, bytes(row, "response")?))
    })
}

pub(super) fn news(connection: &Connection, head: &Head) -> Result<TaskUpdate, Error> {
    let answers = unread(connection, head)?;
    Ok(TaskUpdate::new(head.control.status, answers))
}

/// The rows that `sql` finds for the task `id`.
pub(super) fn select<T>(
    connection: &Connection,
    sql: &str,
    id: TaskId,
    read: impl Fn(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut statement = connection.prepare_cached(sql).map_err(explain)?;
    let mut rows = statement.query([id.as_bytes()]).map_err(explain)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(explain)? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Writes the answers that count, in the order they came.
pub(crate) fn take_answers(
    connection: &Connection,
    caller: Owner,
    id: TaskId,
    answers: &[Answer],
    now: UnixMillis,
) -> Result<Option<Answered>, Error> {
    let Some(mut head) = Head::of(connection, caller, id)? else {
        return Ok(None);
    };
    let asked = asked(connection, id)?;
    let accepted = head.control.answer(&asked, answers, now);
    if !accepted.is_empty() {
        let mut statement = connection
            .prepare_cached(
                "UPDATE sterna_question SET phase = 'answered', response = ?3, heard = ?4
                 WHERE task = ?1 AND key = ?2",
            )
            .map_err(explain)?;
        for answer in &accepted {
            head.heard = head.heard.saturating_add(1);
            let (key, response) = (answer.key.as_str(), &answer.response[..]);
            statement
                .execute((id.as_bytes(), key, response, head.heard))
                .map_err(explain)?;
        }
        head.updated_at = now;
        head.save(connection)?;
    }
    let accepted = count(accepted.len());
    Ok(Some(Answered::new(accepted, head.control.status)))
}
