//! Blobs until they expire.

use std::time::Duration;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension};
use sterna_store::{BlobId, Error, ErrorKind, UnixMillis};

use super::codec::count;
use crate::error::explain;

pub(crate) fn put(
    connection: &Connection,
    id: BlobId,
    value: &[u8],
    ttl: Duration,
    now: UnixMillis,
) -> Result<(), Error> {
    if read(connection, id, now)?.is_some_and(|before| before != value) {
        return Err(Error::new(ErrorKind::Conflict, "the blob id is taken"));
    }
    connection
        .prepare_cached("INSERT OR REPLACE INTO sterna_blob VALUES (?1, ?2, ?3)")
        .and_then(|mut statement| statement.execute((id.as_bytes(), value, (now + ttl).get())))
        .map_err(explain)?;
    Ok(())
}

pub(crate) fn read(
    connection: &Connection,
    id: BlobId,
    now: UnixMillis,
) -> Result<Option<Bytes>, Error> {
    let value: Option<Vec<u8>> = connection
        .prepare_cached("SELECT value FROM sterna_blob WHERE id = ?1 AND expires_at > ?2")
        .and_then(|mut statement| {
            statement
                .query_row((id.as_bytes(), now.get()), |row| row.get(0))
                .optional()
        })
        .map_err(explain)?;
    Ok(value.map(Bytes::from))
}

pub(crate) fn sweep(connection: &Connection, limit: u32, now: UnixMillis) -> Result<u32, Error> {
    let swept = connection
        .prepare_cached(
            "DELETE FROM sterna_blob WHERE rowid IN (
                SELECT rowid FROM sterna_blob WHERE expires_at <= ?1 LIMIT ?2
             )",
        )
        .and_then(|mut statement| statement.execute((now.get(), i64::from(limit))))
        .map_err(explain)?;
    Ok(count(swept))
}
