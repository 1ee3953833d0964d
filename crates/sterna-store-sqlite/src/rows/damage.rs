//! Tasks that cannot be read.

use std::fmt::Write as _;

use rusqlite::Connection;
use sterna_store::{Error, ErrorKind, UnixMillis};

use crate::error::explain;

/// A row that was set aside, so that the others can be worked on.
pub(crate) struct Damage {
    /// The bytes in the column for the task's id, valid or not.
    id: Vec<u8>,
    what: Error,
}

impl Damage {
    /// Ends the task in row `row` as failed, if `error` says that it cannot be
    /// read: no worker claims it again, and its owner sees that it is over.
    ///
    /// # Errors
    ///
    /// `error`, if it says something else.
    pub(crate) fn set_aside(
        connection: &Connection,
        row: i64,
        error: Error,
        now: UnixMillis,
    ) -> Result<Self, Error> {
        if error.kind() != ErrorKind::Corrupt {
            return Err(error);
        }
        let id = connection
            .prepare_cached(
                "UPDATE sterna_task
                 SET status = 'failed', due_at = NULL, worker = NULL, updated_at = ?2
                 WHERE rowid = ?1 RETURNING id",
            )
            .and_then(|mut statement| statement.query_row((row, now.get()), |row| row.get(0)))
            .map_err(explain)?;
        Ok(Self { id, what: error })
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
