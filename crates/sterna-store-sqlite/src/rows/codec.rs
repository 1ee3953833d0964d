//! Values of columns.

use bytes::Bytes;
use rusqlite::types::FromSql;
use rusqlite::{Error, Row};
use sterna_store::{Error as StoreError, Name, Note, Phase, Status, UnixMillis};

use crate::error::{damaged, explain};

pub(super) fn get<T: FromSql>(row: &Row<'_>, column: &str) -> Result<T, StoreError> {
    row.get(column).map_err(|error| match error {
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..) => {
            damaged("a value in the database is out of range or missing").because(error)
        }
        error => explain(error),
    })
}

/// An id or a digest.
pub(super) fn array<const N: usize>(row: &Row<'_>, column: &str) -> Result<[u8; N], StoreError> {
    let bytes: Vec<u8> = get(row, column)?;
    let wrong = |_| damaged("an id in the database has another length than ids have");
    bytes.try_into().map_err(wrong)
}

pub(super) fn bytes(row: &Row<'_>, column: &str) -> Result<Bytes, StoreError> {
    get::<Vec<u8>>(row, column).map(Bytes::from)
}

pub(super) fn maybe_bytes(row: &Row<'_>, column: &str) -> Result<Option<Bytes>, StoreError> {
    Ok(get::<Option<Vec<u8>>>(row, column)?.map(Bytes::from))
}

pub(super) fn name(row: &Row<'_>, column: &str) -> Result<Name, StoreError> {
    let text: String = get(row, column)?;
    Name::new(text).map_err(|error| damaged("a name in the database is no name").because(error))
}

pub(super) fn note(row: &Row<'_>, column: &str) -> Result<Option<Note>, StoreError> {
    let text: Option<String> = get(row, column)?;
    Ok(text.as_deref().map(Note::new))
}

pub(super) fn time(row: &Row<'_>, column: &str) -> Result<UnixMillis, StoreError> {
    get(row, column).map(UnixMillis::new)
}

pub(super) fn maybe_time(row: &Row<'_>, column: &str) -> Result<Option<UnixMillis>, StoreError> {
    Ok(get::<Option<i64>>(row, column)?.map(UnixMillis::new))
}

pub(super) fn status(row: &Row<'_>, column: &str) -> Result<Status, StoreError> {
    let word: String = get(row, column)?;
    Status::parse(&word).ok_or_else(|| damaged("a status in the database is no status"))
}

pub(super) fn phase(row: &Row<'_>, column: &str) -> Result<Phase, StoreError> {
    let word: String = get(row, column)?;
    Phase::parse(&word).ok_or_else(|| damaged("a phase in the database is no phase"))
}

/// A number of rows as the store counts them.
pub(super) fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}
