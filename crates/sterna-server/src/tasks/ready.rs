//! The readiness of the store: it answers.

use std::sync::Arc;

use sterna_store::{BlobId, Store};

use crate::edge::{Check, Checking, Health};

/// Looks for a blob that is not there, which every store does quickly.
pub(crate) struct StoreReady(pub(crate) Arc<dyn Store>);

impl Check for StoreReady {
    fn name(&self) -> &'static str {
        "store"
    }

    fn check(&self) -> Checking {
        let store = Arc::clone(&self.0);
        Box::pin(async move {
            match store.blob(BlobId::from_bytes([0; 16])).await {
                Ok(_) => Health::passing(),
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    tracing::warn!(target: "sterna::tasks", error = cause, "MR0404: the store does not answer");
                    Health::failing()
                }
            }
        })
    }
}
