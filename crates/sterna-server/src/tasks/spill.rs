//! States too large to travel, in the store.

use sterna_seal::{BlobError, BlobFuture, BlobId, Spill, UnixMillis};

use super::Tasks;
use crate::rounds::now;

/// What is put is encrypted, and its key is in the token: the store learns
/// nothing.
impl Spill for Tasks {
    fn put(&self, id: BlobId, blob: Vec<u8>, expires_at: UnixMillis) -> BlobFuture<'_, ()> {
        let ttl = expires_at - now();
        Box::pin(async move {
            let put = self.store.put_blob(id, blob.into(), ttl).await;
            put.map_err(BlobError::new)
        })
    }

    fn get(&self, id: BlobId, len: usize) -> BlobFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            let blob = self.store.blob(id).await.map_err(BlobError::new)?;
            Ok(blob.filter(|blob| blob.len() == len).map(Vec::from))
        })
    }
}
