//! Blobs: values too big to travel, kept until they expire.

use std::time::Duration;

use bytes::Bytes;

use crate::{BlobId, BoxFuture, Error};

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

    /// The value under `id`, if its time is not up.
    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>>;

    /// Deletes up to `limit` blobs whose time is up, and says how many.
    fn sweep_blobs(&self, limit: u32) -> BoxFuture<'_, Result<u32, Error>>;
}
