//! Blobs in a file.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::{BlobId, Blobs, BoxFuture, Error};

use crate::SqliteStore;
use crate::rows;
use crate::thread::Durability;

impl Blobs for SqliteStore {
    fn put_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.write
            .call(Durability::Machine, move |connection, now| {
                rows::blob::put(connection, id, &value, ttl, now)
            })
    }

    fn post_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            self.put_blob(id, value, ttl).await?;
            self.wakeups.send_for_blob(id);
            Ok(())
        })
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.read.call(Durability::Process, move |connection, now| {
            rows::blob::read(connection, id, now)
        })
    }

    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.write
            .call(Durability::Process, move |connection, now| {
                rows::blob::sweep(connection, limit, now)
            })
    }
}
