//! The questions of a task and their answers.

use sterna_store::{Answer, Answered, Asked, Error, Owner, Question, TaskId};
use tokio_postgres::Row;

use super::codec::{array, bytes, count, name, phase};
use super::locked::LockedTask;
use super::verb::Verb;
use super::writes::Writes;

/// Answers questions of a task, and notifies the listeners.
pub(crate) struct WriteAnswers {
    pub(crate) caller: Owner,
    pub(crate) task: TaskId,
    pub(crate) answers: Vec<Answer>,
}

impl Verb for WriteAnswers {
    type Output = Option<Answered>;

    fn task(&self) -> &TaskId {
        &self.task
    }

    fn reads_questions(&self) -> bool {
        true
    }

    fn decide(
        &self,
        task: Option<LockedTask>,
        writes: &mut Writes,
    ) -> Result<Option<Answered>, Error> {
        let task = task.filter(|task| task.head.principal == self.caller);
        let Some(mut task) = task else {
            return Ok(None);
        };
        let asked = task.asked()?;
        let mut head = task.head;
        let accepted = head.control.answer(&asked, &self.answers, head.now);
        let answered = Answered::new(count(accepted.len()), head.control.status);
        if !accepted.is_empty() {
            let before = head.heard;
            head.heard = before.saturating_add(answered.accepted);
            head.updated_at = head.now;
            writes.answer(head.id, before, &accepted);
            writes.notify(&head.id);
            writes.save(head);
        }
        Ok(Some(answered))
    }
}

/// A question as its task knows it.
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

pub(super) fn answer(row: &Row) -> Result<Answer, Error> {
    Ok(Answer::new(name(row, "key")?, bytes(row, "response")?))
}
