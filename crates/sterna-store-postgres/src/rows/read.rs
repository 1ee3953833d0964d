//! Tasks as a client may see them.

use std::collections::BTreeMap;

use sterna_store::{
    Error, Listing, Outcome, Owner, Page, Status, Summary, Task, TaskId, UnixMillis,
};
use tokio_postgres::Row;

use super::codec::{array, get, maybe_bytes, maybe_time, name, note, status, time};
use super::{Operation, inbox, now};
use crate::error::Failure;
use crate::session::Session;
use crate::statement::Statement;

/// Shows a task.
pub(crate) struct Read {
    pub(crate) caller: Owner,
    pub(crate) task: TaskId,
}

impl Operation for Read {
    type Output = Option<Task>;

    async fn run(&self, session: &Session<'_>) -> Result<Option<Task>, Failure> {
        let tasks = read_together(session, &[self]).await?;
        Ok(tasks.into_iter().next().flatten())
    }
}

/// Shows a task to each of `reads`, in their order.
///
/// One statement sees one moment: a task is never shown as waiting for input with
/// the questions of a moment later.
pub(crate) async fn read_together(
    session: &Session<'_>,
    reads: &[&Read],
) -> Result<Vec<Option<Task>>, Failure> {
    let ids: Vec<_> = reads.iter().map(|read| &read.task.as_bytes()[..]).collect();
    let owners = reads.iter().map(|read| &read.caller.as_bytes()[..]);
    let owners: Vec<_> = owners.collect();
    let statement = Statement::new(concat!(
        "SELECT task.*, ",
        now!(),
        " AS now, payload.outcome,
            question.key, question.fingerprint, question.request
         FROM (SELECT DISTINCT * FROM unnest($1, $2) AS wanted (id, principal)) AS wanted
         JOIN @task AS task USING (id, principal)
         LEFT JOIN @payload AS payload ON payload.task = task.id
         LEFT JOIN @question AS question
            ON question.task = task.id AND phase = 'open' AND status = 'input_required'
         ORDER BY position"
    ))
    .with(ids)
    .with(owners);
    let mut found: BTreeMap<(TaskId, Owner), Vec<Row>> = BTreeMap::new();
    for row in session.run(statement).await? {
        let id = TaskId::from_bytes(array(&row, "id")?);
        let owner = Owner::from_digest(array(&row, "principal")?);
        found.entry((id, owner)).or_default().push(row);
    }
    let shown = reads.iter().map(|read| {
        let rows = found.get(&(read.task, read.caller))?;
        let row = rows.first()?;
        let shown = task(row, rows);
        Some(shown.unwrap_or_else(|_| Task::new(unreadable(row, read.task))))
    });
    Ok(shown.collect())
}

/// A task as its owner sees it, from rows that differ in their question only.
fn task(row: &Row, rows: &[Row]) -> Result<Task, Error> {
    let mut task = Task::new(summary(row)?);
    if get::<Option<&str>>(row, "key")?.is_some() {
        task.questions = inbox::open(rows)?;
    }
    let outcome = maybe_bytes(row, "outcome")?;
    task.outcome = match task.summary.status {
        Status::Completed => outcome.map(Outcome::Completed),
        Status::Failed => outcome.map(Outcome::Failed),
        Status::Working | Status::InputRequired | Status::Cancelled => None,
    };
    Ok(task)
}

/// A task as a client sees it. What only workers need is not looked at.
fn summary(row: &Row) -> Result<Summary, Error> {
    let id = TaskId::from_bytes(array(row, "id")?);
    let created_at = time(row, "created_at")?;
    let mut summary = Summary::new(id, name(row, "target")?, status(row, "status")?, created_at);
    summary.note = note(row, "note")?;
    summary.updated_at = time(row, "updated_at")?;
    summary.expires_at = maybe_time(row, "expires_at")?;
    Ok(summary)
}

/// A task that cannot be read, as its owner sees it: it has failed, and there
/// is nothing more to say about it.
pub(super) fn unreadable(row: &Row, id: TaskId) -> Summary {
    let created_at = time(row, "created_at").unwrap_or_default();
    let mut summary = Summary::unreadable(id, created_at);
    summary.updated_at = time(row, "updated_at").unwrap_or(created_at);
    summary.expires_at = maybe_time(row, "expires_at").unwrap_or_default();
    summary
}

/// Lists the tasks of a caller.
pub(crate) struct List {
    pub(crate) caller: Owner,
    pub(crate) page: Page,
}

impl Operation for List {
    type Output = Listing;

    async fn run(&self, session: &Session<'_>) -> Result<Listing, Failure> {
        let start = (UnixMillis::MIN, TaskId::from_bytes([0; 16]));
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
        let shown = |row| match summary(row) {
            Ok(summary) => Some(summary),
            // A row without an id cannot be asked for.
            Err(_) => {
                let id = array(row, "id").map(TaskId::from_bytes);
                id.ok().map(|id| unreadable(row, id))
            }
        };
        let tasks = rows.iter().filter_map(shown).collect();
        Ok(Listing::cut(tasks, self.page.limit))
    }
}
