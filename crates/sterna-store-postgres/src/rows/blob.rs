//! Blobs until they expire.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::{BlobId, Error, ErrorKind, UnixMillis};
use tokio_postgres::Row;

use super::codec::{bytes, count};
use super::{Operation, now};
use crate::error::Failure;
use crate::listen::Hint;
use crate::session::Session;
use crate::statement::Statement;

/// Keeps a value.
pub(crate) struct PutBlob {
    pub(crate) id: BlobId,
    pub(crate) value: Bytes,
    pub(crate) ttl: Duration,
}

impl PutBlob {
    fn statement(&self) -> Statement<'_> {
        Statement::new(concat!(
            "INSERT INTO @blob AS blob
             SELECT $1, $2, now + $3 FROM (SELECT ",
            now!(),
            " AS now) AS clock
             ON CONFLICT (id) DO UPDATE
             SET value = excluded.value, expires_at = excluded.expires_at
             WHERE blob.value = excluded.value OR blob.expires_at <= ",
            now!(),
            " RETURNING 1"
        ))
        .with(self.id.as_bytes().as_slice())
        .with(&self.value[..])
        .with(UnixMillis::span(self.ttl))
    }
}

impl Operation for PutBlob {
    type Output = ();

    async fn run(&self, session: &Session<'_>) -> Result<(), Failure> {
        put(&session.run(self.statement()).await?)
    }
}

/// Keeps a value and notifies the listeners.
pub(crate) struct PostBlob {
    pub(crate) put: PutBlob,
    pub(crate) channel: String,
}

impl Operation for PostBlob {
    type Output = ();

    async fn run(&self, session: &Session<'_>) -> Result<(), Failure> {
        let rows = session.begin([self.put.statement()]).await?;
        put(&rows[0])?;
        let hint = Hint::Blob(self.put.id).to_string();
        session.commit([notify(&self.channel, &hint)]).await?;
        Ok(())
    }
}

/// Checks that the stored value is the one given.
fn put(rows: &[Row]) -> Result<(), Failure> {
    if rows.is_empty() {
        return Err(Error::new(ErrorKind::Conflict, "the blob id is taken").into());
    }
    Ok(())
}

/// Reads a value.
pub(crate) struct ReadBlob {
    pub(crate) id: BlobId,
}

impl Operation for ReadBlob {
    type Output = Option<Bytes>;

    async fn run(&self, session: &Session<'_>) -> Result<Option<Bytes>, Failure> {
        let statement = Statement::new(concat!(
            "SELECT value FROM @blob WHERE id = $1 AND expires_at > ",
            now!()
        ))
        .with(self.id.as_bytes().as_slice());
        let rows = session.run(statement).await?;
        Ok(rows.first().map(|row| bytes(row, "value")).transpose()?)
    }
}

/// Deletes values whose time is up.
pub(crate) struct SweepBlobs {
    pub(crate) limit: u32,
}

impl Operation for SweepBlobs {
    type Output = u32;

    async fn run(&self, session: &Session<'_>) -> Result<u32, Failure> {
        let statement = Statement::new(concat!(
            "DELETE FROM @blob WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM @blob WHERE expires_at <= ",
            now!(),
            " LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1"
        ))
        .with(i64::from(self.limit));
        Ok(count(session.run(statement).await?.len()))
    }
}

/// Wakes the listeners once the transaction has committed.
fn notify<'a>(channel: &'a str, hint: &'a str) -> Statement<'a> {
    Statement::new("SELECT pg_notify($1, $2)::text")
        .with(channel)
        .with(hint)
}
