//! The store traits as one, and the trait of blobs.

use std::time::Duration;

use bytes::Bytes;

use crate::{BlobId, BoxFuture, Error, Ledger, Tasks};

/// Store for everything that a durable server needs: [`Tasks`], a [`Ledger`]
/// and [`Blobs`].
///
/// Implemented for every type that has all three. Code that needs less asks for
/// less.
pub trait Store: Tasks + Ledger + Blobs {}

impl<S: Tasks + Ledger + Blobs + ?Sized> Store for S {}

/// Keeps values for a while.
pub trait Blobs: Send + Sync {
    /// Keeps `value` under `id` for `ttl`. The same value again is harmless
    /// and starts its time anew.
    ///
    /// # Errors
    ///
    /// `Conflict` if the id holds another value, `Full` if there is no room.
    fn put_blob(&self, id: BlobId, value: Bytes, ttl: Duration)
    -> BoxFuture<'_, Result<(), Error>>;

    /// Keeps a value as [`put_blob`](Self::put_blob) does, and wakes
    /// those that wait for it; see [`Wakeup::Blob`](crate::Wakeup::Blob).
    ///
    /// A store without wakeups only puts it: those that wait poll for it.
    ///
    /// # Errors
    ///
    /// As [`put_blob`](Self::put_blob).
    fn post_blob(
        &self,
        id: BlobId,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'_, Result<(), Error>> {
        self.put_blob(id, value, ttl)
    }

    /// The value under `id`, if its time is not up.
    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>>;

    /// Deletes up to `limit` blobs whose time is up, and says how many.
    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>>;

    /// Asks whether the store answers, with a read of a blob that need not exist.
    ///
    /// A store of several shards returns the names of those that do not answer,
    /// as long as one does.
    ///
    /// # Errors
    ///
    /// The store does not answer.
    fn probe(&self) -> BoxFuture<'_, Result<Vec<String>, Error>> {
        let read = self.blob(BlobId::from_bytes([0; 16]));
        Box::pin(async move { read.await.map(|_| Vec::new()) })
    }
}
