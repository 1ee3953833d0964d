//! The store of a server: states that are too large to travel, readiness, and
//! errors.

use std::sync::Arc;

use sterna_http::{Check, Checking, Health};
use sterna_runner::effects::StoreSpill;
use sterna_seal::{BlobFuture, BlobId, Spill, UnixMillis};
use sterna_store::Error;

use super::Tasks;
use crate::failure::Failure;

impl Spill for Tasks {
    fn put(&self, id: BlobId, blob: Vec<u8>, expires_at: UnixMillis) -> BlobFuture<'_, ()> {
        Box::pin(async move {
            let spill = StoreSpill::new(&*self.store, self.now());
            spill.put(id, blob, expires_at).await
        })
    }

    fn get(&self, id: BlobId, len: usize) -> BlobFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            let spill = StoreSpill::new(&*self.store, self.now());
            spill.get(id, len).await
        })
    }
}

/// Readiness of the store: it answers a read of a blob that does not exist, has
/// room, and lets workers claim tasks.
///
/// A store of several shards is ready as long as one of them answers: its tasks go
/// on. The report names those that do not answer.
pub(crate) struct StoreReady(pub(crate) Arc<Tasks>);

impl StoreReady {
    /// Returns `true` if the store is good, and the names of its shards that do not
    /// answer.
    async fn look(tasks: &Tasks) -> Result<(bool, Vec<String>), Error> {
        let silent = tasks.store.probe().await?;
        let good = tasks.queue.health().is_good(&*tasks.store).await?;
        Ok((good, silent))
    }
}

impl Check for StoreReady {
    fn name(&self) -> &'static str {
        "store"
    }

    fn check(&self) -> Checking {
        let tasks = Arc::clone(&self.0);
        Box::pin(async move {
            match Self::look(&tasks).await {
                Ok((good, silent)) => {
                    let health = match good {
                        true => Health::passing(),
                        // The workers have logged why.
                        false => Health::failing(),
                    };
                    let silent = silent.iter();
                    health.with_ids(silent.map(|name| format!("shard {name} does not answer")))
                }
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    let code = error.code().unwrap_or("MR0404");
                    tracing::warn!(target: "sterna::tasks", code, error = cause, "MR0404: the store does not answer");
                    Health::failing()
                }
            }
        })
    }
}

/// Logs that the store did not do what a request needs, and returns the failure
/// of the request.
pub(crate) fn store_failed(error: &Error) -> Failure {
    let cause: &dyn std::error::Error = error;
    let code = error.code().unwrap_or("MR0404");
    tracing::error!(target: "sterna::tasks", code, error = cause, "the store failed");
    Failure::Internal
}
