//! Errors of the store that keep an instance from its work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use sterna_store::{BlobId, Error, ErrorKind, Store};

use crate::effects::random_bytes;

/// Remembers which operations the store last failed at.
#[derive(Debug, Default)]
pub struct StoreHealth {
    cannot_claim: AtomicBool,
    is_full: AtomicBool,
}

impl StoreHealth {
    /// Notes that workers can claim tasks.
    pub(super) fn claimed(&self) {
        self.cannot_claim.store(false, Ordering::Relaxed);
    }

    /// Notes that workers cannot claim tasks.
    pub(super) fn cannot_claim(&self, error: &Error) {
        self.cannot_claim.store(true, Ordering::Relaxed);
        self.note(error);
    }

    /// Notes an error of the store.
    pub fn note(&self, error: &Error) {
        if error.kind() == ErrorKind::Full {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    /// Returns `true` if work can be claimed and written.
    ///
    /// A store that was full is written to, and is not full if that succeeds:
    /// an instance that is not ready gets no calls that would show it.
    ///
    /// # Errors
    ///
    /// The store did not answer.
    pub async fn is_good(&self, store: &dyn Store) -> Result<bool, Error> {
        if self.is_full.load(Ordering::Relaxed) {
            let id = BlobId::from_bytes(random_bytes().unwrap_or_default());
            let value = Bytes::from_static(&[0; TRIAL]);
            store.put_blob(id, value, Duration::from_millis(1)).await?;
            self.is_full.store(false, Ordering::Relaxed);
        }
        Ok(!self.cannot_claim.load(Ordering::Relaxed))
    }
}

/// Size of the blob that must fit into a store that is not full: a call with
/// some arguments.
const TRIAL: usize = 64 << 10;
