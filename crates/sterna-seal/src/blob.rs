//! The store that keeps what does not fit a token.

use std::error::Error;
use std::fmt;
use std::pin::Pin;

use ring::digest::{SHA256, digest};

use crate::digest::DIGEST_LEN;
use crate::time::UnixMillis;

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

/// What a blob store returns.
pub type BlobFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BlobError>> + Send + 'a>>;

/// The name of a blob: the SHA-256 of its bytes.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BlobId([u8; DIGEST_LEN]);

impl BlobId {
    /// The bytes of this id.
    pub const fn to_bytes(self) -> [u8; DIGEST_LEN] {
        self.0
    }

    pub(crate) const fn from_bytes(bytes: [u8; DIGEST_LEN]) -> Self {
        Self(bytes)
    }

    pub(crate) fn of(blob: &[u8]) -> Self {
        let mut id = [0; DIGEST_LEN];
        id.copy_from_slice(digest(&SHA256, blob).as_ref());
        Self(id)
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({self})")
    }
}

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
