//! What a client may know.

use sterna_store::{Error, Listing, Outcome, Page, Principal, Status, Task, TaskId, UnixMillis};

use super::codec::{get, maybe_bytes};
use super::head::Head;
use super::{Operation, inbox, now};
use crate::error::Failure;
use crate::session::Session;
use crate::statement::Statement;

/// Shows a task.
pub(crate) struct Read {
    pub(crate) caller: Principal,
    pub(crate) task: TaskId,
}

impl Operation for Read {
    type Output = Option<Task>;

    async fn run(&self, session: &Session<'_>) -> Result<Option<Task>, Failure> {
        // One statement sees one moment: a task is never shown as waiting for
        // input with the questions of a moment later.
        let statement = Statement::new(concat!(
            "SELECT task.*, ",
            now!(),
            " AS now, payload.outcome,
                question.key, question.fingerprint, question.request
             FROM @task AS task
             JOIN @payload AS payload ON payload.task = task.id
             LEFT JOIN @question AS question
                ON question.task = task.id AND phase = 'open' AND status = 'input_required'
             WHERE id = $1 AND principal = $2
             ORDER BY position"
        ))
        .with(self.task.as_bytes().as_slice())
        .with(self.caller.as_bytes().as_slice());
        let rows = session.run(statement).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let head = Head::from_row(row)?;
        let mut task = Task::new(head.summary());
        if get::<Option<&str>>(row, "key")?.is_some() {
            task.questions = inbox::open(&rows)?;
        }
        let outcome = maybe_bytes(row, "outcome")?;
        task.outcome = match head.control.status {
            Status::Completed => outcome.map(Outcome::Completed),
            Status::Failed => outcome.map(Outcome::Failed),
            Status::Working | Status::InputRequired | Status::Cancelled => None,
        };
        Ok(Some(task))
    }
}

/// Lists the tasks of a caller.
pub(crate) struct List {
    pub(crate) caller: Principal,
    pub(crate) page: Page,
}

impl Operation for List {
    type Output = Listing;

    async fn run(&self, session: &Session<'_>) -> Result<Listing, Failure> {
        let start = (UnixMillis::new(i64::MIN), TaskId::from_bytes([0; 16]));
        let (created_at, id) = self
            .page
            .after
            .map_or(start, |cursor| (cursor.created_at(), cursor.id()));
        let statement = Statement::new(concat!(
            "SELECT task.*, ",
            now!(),
            " AS now FROM @task AS task
             WHERE principal = $1 AND (created_at, id) > ($2, $3)
             ORDER BY created_at, id LIMIT $4"
        ))
        .with(self.caller.as_bytes().as_slice())
        .with(created_at.get())
        .with(id.as_bytes().as_slice())
        .with(i64::from(self.page.limit) + 1);
        let rows = session.run(statement).await?;
        let tasks: Result<Vec<_>, Error> = rows
            .iter()
            .map(|row| Ok(Head::from_row(row)?.summary()))
            .collect();
        Ok(Listing::cut(tasks?, self.page.limit))
    }
}
