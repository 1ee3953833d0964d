//! The store that keeps what does not fit a token.

use std::error::Error;
use std::pin::Pin;

use sterna_types::{BlobId, UnixMillis};

/// A store for payloads that do not fit a token.
///
/// It is trusted with nothing: what it gets is encrypted under a key that only
/// the token holds, and what it returns is checked against the token.
pub trait Spill: Send + Sync {
    /// Keeps `blob` under `id` at least until `expires_at`. Putting the same
    /// blob twice is no error.
    fn put(&self, id: BlobId, blob: Vec<u8>, expires_at: UnixMillis) -> BlobFuture<'_, ()>;

    /// Returns the blob that was put under `id`, or `None` if it is gone. A
    /// blob of any other length than `len` may be treated as gone.
    fn get(&self, id: BlobId, len: usize) -> BlobFuture<'_, Option<Vec<u8>>>;
}

/// Future of a call of a blob store.
pub type BlobFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BlobError>> + Send + 'a>>;

/// A blob store did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("the blob store failed")]
pub struct BlobError {
    source: Box<dyn Error + Send + Sync>,
}

impl BlobError {
    /// Wraps the store's own error.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}
