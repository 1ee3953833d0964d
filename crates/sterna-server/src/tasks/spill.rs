//! States too large to travel, in the store.

use sterna_seal::{BlobError, BlobFuture, Spill, UnixMillis};
use sterna_store::BlobId;

use super::Tasks;
use crate::rounds::now;

/// What is put is encrypted, and its key is in the token: the store learns
/// nothing.
impl Spill for Tasks {
    fn put(
        &self,
        id: sterna_seal::BlobId,
        blob: Vec<u8>,
        expires_at: UnixMillis,
    ) -> BlobFuture<'_, ()> {
        let ttl = expires_at.get().saturating_sub(now().get());
        let ttl = std::time::Duration::from_millis(ttl);
        Box::pin(async move {
            let put = self.store.put_blob(short(id), blob.into(), ttl).await;
            put.map_err(BlobError::new)
        })
    }

    fn get(&self, id: sterna_seal::BlobId, len: usize) -> BlobFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            let blob = self.store.blob(short(id)).await.map_err(BlobError::new)?;
            Ok(blob.filter(|blob| blob.len() == len).map(Vec::from))
        })
    }
}

/// Half of a digest: enough for no two blobs to meet by chance, and one that
/// is not ours does not decrypt.
fn short(id: sterna_seal::BlobId) -> BlobId {
    let [half @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = id.to_bytes();
    BlobId::from_bytes(half)
}
