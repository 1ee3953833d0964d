//! The questions of a task and their answers.

use std::collections::BTreeMap;

use sterna_store::machine::Asked;
use sterna_store::{Answer, Error, Name, Question, TaskId};
use tokio_postgres::Row;

use super::codec::{array, bytes, name, phase};
use crate::statement::Statement;

/// Every question the task ever asked.
pub(super) fn select_asked(id: &TaskId) -> Statement<'_> {
    Statement::new("SELECT key, fingerprint, phase FROM @question WHERE task = $1")
        .with(id.as_bytes().as_slice())
}

pub(super) fn asked(rows: &[Row]) -> Result<BTreeMap<Name, Asked>, Error> {
    rows.iter()
        .map(|row| {
            let asked = Asked::new(array(row, "fingerprint")?, phase(row, "phase")?);
            Ok((name(row, "key")?, asked))
        })
        .collect()
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
