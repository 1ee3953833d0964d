//! Values of columns.

use bytes::Bytes;
use sterna_store::{Error, Name, Note, Phase, Status, UnixMillis};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::error::damaged;

pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, Error> {
    row.try_get(column)
        .map_err(|error| damaged("a column of the database has another type").because(error))
}

/// An id or a digest.
pub(super) fn array<const N: usize>(row: &Row, column: &str) -> Result<[u8; N], Error> {
    let bytes: &[u8] = get(row, column)?;
    let wrong = |_| damaged("an id in the database has another length than ids have");
    bytes.try_into().map_err(wrong)
}

pub(super) fn bytes(row: &Row, column: &str) -> Result<Bytes, Error> {
    get::<Vec<u8>>(row, column).map(Bytes::from)
}

pub(super) fn maybe_bytes(row: &Row, column: &str) -> Result<Option<Bytes>, Error> {
    Ok(get::<Option<Vec<u8>>>(row, column)?.map(Bytes::from))
}

pub(super) fn name(row: &Row, column: &str) -> Result<Name, Error> {
    let text: String = get(row, column)?;
    Name::new(text).map_err(|error| damaged("a name in the database is no name").because(error))
}

pub(super) fn note(row: &Row, column: &str) -> Result<Option<Note>, Error> {
    Ok(get::<Option<&str>>(row, column)?.map(Note::new))
}

pub(super) fn time(row: &Row, column: &str) -> Result<UnixMillis, Error> {
    get(row, column).map(UnixMillis::new)
}

pub(super) fn maybe_time(row: &Row, column: &str) -> Result<Option<UnixMillis>, Error> {
    Ok(get::<Option<i64>>(row, column)?.map(UnixMillis::new))
}

pub(super) fn number(row: &Row, column: &str) -> Result<u32, Error> {
    let wrong = |_| damaged("a number in the database is out of range");
    u32::try_from(get::<i64>(row, column)?).map_err(wrong)
}

pub(super) fn status(row: &Row, column: &str) -> Result<Status, Error> {
    Status::parse(get(row, column)?).ok_or_else(|| damaged("a status in the database is no status"))
}

pub(super) fn phase(row: &Row, column: &str) -> Result<Phase, Error> {
    Phase::parse(get(row, column)?).ok_or_else(|| damaged("a phase in the database is no phase"))
}

/// A number of rows as the store counts them.
pub(super) fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}
