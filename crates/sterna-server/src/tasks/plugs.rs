//! The store in the shapes that flows know.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_flow::{BoxFuture, Claim, FlowId, Key, PlugError};
use sterna_store::{BlobId, Claimant, Effect, Error, ErrorKind, Name, OnceClaim, Store};

use super::random;

/// The ledger of one run. Each run is a claimant of its own: the same retry
/// served twice at once is two of them, and one wins.
pub(super) struct FlowLedger {
    store: Arc<dyn Store>,
    claimant: Claimant,
}

impl FlowLedger {
    pub(super) fn new(store: Arc<dyn Store>, claimant: Claimant) -> Self {
        Self { store, claimant }
    }
}

impl sterna_flow::Ledger for FlowLedger {
    fn claim(&self, flow: &FlowId, key: &Key) -> BoxFuture<Result<Claim, PlugError>> {
        let (store, claimant) = (Arc::clone(&self.store), self.claimant);
        let effect = effect(flow, key);
        Box::pin(async move {
            let claim = store.claim_once(effect?, claimant, KEEP).await;
            Ok(match claim.map_err(plug_error)? {
                OnceClaim::Won => Claim::Fresh,
                OnceClaim::Settled(result) => Claim::Done(result),
                _ => Claim::Taken,
            })
        })
    }

    fn settle(&self, flow: &FlowId, key: &Key, result: Bytes) -> BoxFuture<Result<(), PlugError>> {
        let (store, claimant) = (Arc::clone(&self.store), self.claimant);
        let effect = effect(flow, key);
        Box::pin(async move {
            let settled = store.settle_once(effect?, claimant, result).await;
            settled.map_err(plug_error)
        })
    }
}

/// Results that are too large for a journal, each under a random id.
pub(super) struct FlowBlobs {
    store: Arc<dyn Store>,
}

impl FlowBlobs {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

impl sterna_flow::Blobs for FlowBlobs {
    fn put(&self, _: &FlowId, _: &Key, value: Bytes) -> BoxFuture<Result<Bytes, PlugError>> {
        let store = Arc::clone(&self.store);
        Box::pin(async move {
            let id = random().map_err(|error| PlugError::Unavailable(error.into()))?;
            let put = store.put_blob(BlobId::from_bytes(id), value, KEEP).await;
            put.map_err(plug_error)?;
            Ok(Bytes::copy_from_slice(&id))
        })
    }

    fn get(&self, reference: Bytes) -> BoxFuture<Result<Bytes, PlugError>> {
        let store = Arc::clone(&self.store);
        Box::pin(async move {
            let id = <[u8; 16]>::try_from(&*reference).map_err(|_| PlugError::Missing)?;
            let blob = store.blob(BlobId::from_bytes(id)).await;
            blob.map_err(plug_error)?.ok_or(PlugError::Missing)
        })
    }
}

fn effect(flow: &FlowId, key: &Key) -> Result<Effect, PlugError> {
    // A flow's keys are far shorter than a store's and hold what a name holds, except NUL.
    let key = Name::new(key.as_str()).map_err(|error| PlugError::Unavailable(error.into()))?;
    let flow = sterna_store::FlowId::from_bytes(*flow.as_bytes());
    Ok(Effect::new(flow, key))
}

pub(super) fn plug_error(error: Error) -> PlugError {
    match error.kind() {
        ErrorKind::Fenced => PlugError::FenceLost,
        _ => PlugError::Unavailable(error.into()),
    }
}

/// Longer than any flow lives: a task of a year that meets its own effect again
/// must not run it twice.
const KEEP: Duration = Duration::from_secs(2 * 366 * 24 * 60 * 60);
