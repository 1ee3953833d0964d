//! The questions of a task and their answers.

use sterna_store::{Answer, Asked, Error, Question, TaskId};
use tokio_postgres::Row;

use super::codec::{array, bytes, name, phase};
use crate::statement::Statement;

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
