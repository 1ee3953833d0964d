//! The readiness of the store: it answers, has room, and gives work.

use std::sync::Arc;

use sterna_http::{Check, Checking, Health};
use sterna_store::{BlobId, Error};

use super::Tasks;

/// Looks for a blob that is not there, which every store does quickly, and at
/// what the workers met.
pub(crate) struct StoreReady(pub(crate) Arc<Tasks>);

impl StoreReady {
    async fn look(tasks: &Tasks) -> Result<bool, Error> {
        tasks.store.blob(BlobId::from_bytes([0; 16])).await?;
        tasks.trouble.is_over(&*tasks.store).await
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
                Ok(true) => Health::passing(),
                // The workers have said why.
                Ok(false) => Health::failing(),
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
