//! Tables, and how they change from one version to the next.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use sterna_store::{Error, ErrorKind};

use crate::error::explain;

/// Every version's changes, in order. What stands here is never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
];

/// Brings the tables to the version that this program knows.
///
/// # Errors
///
/// `Incompatible` if they are newer.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Error> {
    if version(connection)? == newest() {
        return Ok(());
    }
    // Two processes may open a new file at once: the second waits here and
    // then finds the work done.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(explain)?;
    let found = version(&transaction)?;
    let missing = usize::try_from(found)
        .ok()
        .and_then(|found| MIGRATIONS.get(found..));
    let Some(missing) = missing else {
        return Err(newer(found));
    };
    transaction
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS sterna_schema (
                version    INTEGER NOT NULL PRIMARY KEY,
                applied_at TEXT NOT NULL DEFAULT (datetime('now'))
            ) STRICT",
        )
        .map_err(explain)?;
    for (version, changes) in (found + 1..).zip(missing) {
        transaction.execute_batch(changes).map_err(explain)?;
        transaction
            .execute("INSERT INTO sterna_schema (version) VALUES (?1)", [version])
            .map_err(explain)?;
    }
    transaction.commit().map_err(explain)
}

/// Makes sure that the tables have the version that this program knows, and
/// changes nothing.
///
/// # Errors
///
/// `Incompatible` if they are newer or older.
pub(crate) fn check(connection: &Connection) -> Result<(), Error> {
    let found = version(connection)?;
    match found.cmp(&newest()) {
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(newer(found)),
        Ordering::Less => Err(Error::new(
            ErrorKind::Incompatible,
            format!(
                "the database has schema {found} and this program needs {}: \
                 start a server of this version on it first",
                newest()
            ),
        )
        .with_code("MR0702")),
    }
}

/// The version of the tables; 0 if there are none.
fn version(connection: &Connection) -> Result<i64, Error> {
    let known: Option<i64> = connection
        .query_row(
            "SELECT 1 FROM sqlite_schema WHERE name = 'sterna_schema'",
            [],
            |row| row.get(0),
        )
        .optional()
        .map_err(explain)?;
    if known.is_none() {
        return Ok(0);
    }
    connection
        .query_row(
            "SELECT coalesce(max(version), 0) FROM sterna_schema",
            [],
            |row| row.get(0),
        )
        .map_err(explain)
}

fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

fn newer(found: i64) -> Error {
    let newest = newest();
    Error::new(
        ErrorKind::Incompatible,
        format!(
            "the database has schema {found} and this program knows {newest}: \
             run the newer version that wrote it, or open another file"
        ),
    )
    .with_code("MR0701")
}
