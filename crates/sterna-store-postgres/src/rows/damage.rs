//! Tasks that cannot be read.

use std::fmt::Write as _;

use sterna_store::Error;
use tokio_postgres::Row;

use super::now;
use crate::statement::Statement;

/// A row that was set aside, so that the others can be worked on.
#[derive(Debug)]
pub(crate) struct Damage {
    /// The bytes in the column for the task's id, valid or not.
    id: Vec<u8>,
    what: Error,
}

impl Damage {
    /// The damage `what` to the task with the id `id`.
    pub(crate) fn new(id: Vec<u8>, what: Error) -> Self {
        Self { id, what }
    }

    /// The damage `what` to a row of a task.
    pub(crate) fn of(row: &Row, what: Error) -> Self {
        let id = row.try_get::<_, &[u8]>("id").unwrap_or_default();
        Self::new(id.to_vec(), what)
    }

    /// Ends the tasks as failed: no worker claims them again, and their owners
    /// see that they are over.
    pub(crate) fn set_aside(damages: &[Self]) -> Option<Statement<'_>> {
        let ids: Vec<_> = damages.iter().map(|damage| &damage.id[..]).collect();
        let statement = Statement::new(concat!(
            "UPDATE @task
             SET status = 'failed', due_at = NULL, worker = NULL, updated_at = ",
            now!(),
            " WHERE id = ANY ($1)"
        ));
        (!ids.is_empty()).then(|| statement.with(ids))
    }

    /// Tells the operator.
    pub(crate) fn report(&self) {
        let mut task = String::new();
        for byte in &self.id {
            // Writing to a string does not fail.
            let _ = write!(task, "{byte:02x}");
        }
        let cause: &dyn std::error::Error = &self.what;
        tracing::error!(
            target: "sterna::store",
            task,
            error = cause,
            "MR0410: a damaged task was set aside, see docs/errors/MR0410.md"
        );
    }
}
