//! Blobs in a database.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::{BlobId, Blobs, BoxFuture, Error};

use crate::PostgresStore;
use crate::rows::blob::{PutBlob, ReadBlob, SweepBlobs};

impl Blobs for PostgresStore {
    fn put_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.run(PutBlob { id, value, ttl })
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.run(ReadBlob { id })
    }

    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.run(SweepBlobs { limit })
    }
}
