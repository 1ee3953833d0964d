//! Blobs in a database.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::{BlobId, Blobs, BoxFuture, Error};

use crate::PostgresStore;
use crate::rows::blob::{PostBlob, PutBlob, ReadBlob, SweepBlobs};

impl Blobs for PostgresStore {
    fn put_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.run(PutBlob { id, value, ttl })
    }

    fn post_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        let put = PutBlob { id, value, ttl };
        let channel = self.schema().as_str().to_owned();
        Box::pin(async move {
            self.run(PostBlob { put, channel }).await?;
            self.wakeups.send_for_blob(id);
            Ok(())
        })
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        self.run(ReadBlob { id })
    }

    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>> {
        self.run(SweepBlobs { limit })
    }
}
