//! Effects and large results of a flow, in a store.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_flow::{BackendError, BoxFuture, Claim, Engine, FlowId, Key, UnixMillis};
use sterna_seal::{BlobError, BlobFuture, Entropy, EntropyError, OsEntropy, Spill};
use sterna_store::{
    BlobId, Claimant, Effect, EffectClaim, Error, ErrorKind, Name, OnceClaim, Store,
};

/// Returns `engine` with a ledger and blobs in `store`, for one run of a flow
/// that may live for `lifetime`, or without an end.
///
/// # Errors
///
/// The operating system has no random bytes.
pub fn with_store(
    engine: &Engine,
    store: &Arc<dyn Store>,
    lifetime: Option<Duration>,
) -> Result<Arc<Engine>, EntropyError> {
    let keep = retention(lifetime);
    let ledger = StoreLedger {
        store: Arc::clone(store),
        claimant: Claimant::from_bytes(random_bytes()?),
        keep,
    };
    let blobs = StoreBlobs {
        store: Arc::clone(store),
        keep,
    };
    let engine = engine.clone().ledger(Arc::new(ledger));
    Ok(Arc::new(engine.blobs(Arc::new(blobs))))
}

/// Ledger of one run. Each run is a claimant of its own: if the same retry is
/// served twice at the same time, one of the two runs an effect.
struct StoreLedger {
    store: Arc<dyn Store>,
    claimant: Claimant,
    keep: Duration,
}

impl sterna_flow::Ledger for StoreLedger {
    fn claim(
        &self,
        flow: &FlowId,
        key: &Key,
        answers: Bytes,
    ) -> BoxFuture<Result<Claim, BackendError>> {
        let store = Arc::clone(&self.store);
        let claim = EffectClaim::new(self.claimant, self.keep).with_answers(answers);
        let effect = effect(flow, key);
        Box::pin(async move {
            let claimed = store.claim_once(effect?, claim).await;
            match claimed.map_err(backend_error)? {
                OnceClaim::Won => Ok(Claim::Fresh),
                OnceClaim::Settled { result, answers } => Ok(Claim::Done { result, answers }),
                OnceClaim::Ambiguous { answers, .. } => Ok(Claim::Taken { answers }),
                _ => Err(BackendError::Unavailable(
                    "the store answers a claim in a way this release does not know".into(),
                )),
            }
        })
    }

    fn settle(
        &self,
        flow: &FlowId,
        key: &Key,
        result: Bytes,
    ) -> BoxFuture<Result<(), BackendError>> {
        let (store, claimant) = (Arc::clone(&self.store), self.claimant);
        let effect = effect(flow, key);
        Box::pin(async move {
            let settled = store.settle_once(effect?, claimant, result).await;
            settled.map_err(backend_error)
        })
    }
}

/// Results that are too large for a journal, each under a random id.
struct StoreBlobs {
    store: Arc<dyn Store>,
    keep: Duration,
}

impl sterna_flow::Blobs for StoreBlobs {
    fn put(&self, _: &FlowId, _: &Key, value: Bytes) -> BoxFuture<Result<Bytes, BackendError>> {
        let (store, keep) = (Arc::clone(&self.store), self.keep);
        Box::pin(async move {
            let id = random_bytes().map_err(|error| BackendError::Unavailable(error.into()))?;
            let put = store.put_blob(BlobId::from_bytes(id), value, keep).await;
            put.map_err(backend_error)?;
            Ok(Bytes::copy_from_slice(&id))
        })
    }

    fn get(&self, reference: Bytes) -> BoxFuture<Result<Bytes, BackendError>> {
        let store = Arc::clone(&self.store);
        Box::pin(async move {
            let id = <[u8; 16]>::try_from(&*reference).map_err(|_| BackendError::Missing)?;
            let blob = store.blob(BlobId::from_bytes(id)).await;
            blob.map_err(backend_error)?.ok_or(BackendError::Missing)
        })
    }
}

/// States that are too large to travel, in a store at one point in time.
///
/// A state is encrypted, and its key is in the token: the store learns nothing
/// of it.
pub struct StoreSpill<'a> {
    store: &'a dyn Store,
    now: UnixMillis,
}

impl<'a> StoreSpill<'a> {
    /// Returns the states in `store`; what is put now expires counted from
    /// `now`.
    pub fn new(store: &'a dyn Store, now: UnixMillis) -> Self {
        Self { store, now }
    }
}

impl Spill for StoreSpill<'_> {
    fn put(&self, id: BlobId, blob: Vec<u8>, expires_at: UnixMillis) -> BlobFuture<'_, ()> {
        let ttl = expires_at - self.now;
        Box::pin(async move {
            let put = self.store.put_blob(id, blob.into(), ttl).await;
            put.map_err(BlobError::new)
        })
    }

    fn get(&self, id: BlobId, len: usize) -> BlobFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            let blob = self.store.blob(id).await.map_err(BlobError::new)?;
            Ok(blob.filter(|blob| blob.len() == len).map(Vec::from))
        })
    }
}

impl std::fmt::Debug for StoreSpill<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreSpill").finish_non_exhaustive()
    }
}

fn effect(flow: &FlowId, key: &Key) -> Result<Effect, BackendError> {
    // A flow's keys are far shorter than a store's and hold what a name holds, except NUL.
    let key = Name::new(key.as_str()).map_err(|error| BackendError::Unavailable(error.into()))?;
    Ok(Effect::new(*flow, key))
}

pub(crate) fn backend_error(error: Error) -> BackendError {
    match error.kind() {
        ErrorKind::Fenced => BackendError::FenceLost,
        _ => BackendError::Unavailable(error.into()),
    }
}

/// Returns the time for which effects and blobs of a flow are kept that may live
/// for `lifetime`: longer than the flow, because one that meets its own effect
/// again must not run it twice.
fn retention(lifetime: Option<Duration>) -> Duration {
    lifetime.map_or(FOREVER, |lifetime| {
        lifetime.saturating_add(GRACE).min(FOREVER)
    })
}

/// Returns sixteen bytes that cannot be predicted, for ids and claimants.
///
/// # Errors
///
/// The operating system has no random bytes.
pub fn random_bytes() -> Result<[u8; 16], EntropyError> {
    let mut bytes = [0; 16];
    OsEntropy.fill(&mut bytes)?;
    Ok(bytes)
}

/// A flow that has ended may still be undone, clocks differ, and an operator
/// looks on Monday at what was left in doubt on Friday.
const GRACE: Duration = Duration::from_secs(7 * DAY);

/// For flows without an end.
const FOREVER: Duration = Duration::from_secs(2 * 366 * DAY);

const DAY: u64 = 24 * 60 * 60;
