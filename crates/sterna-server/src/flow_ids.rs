//! The ids of new flows.

use std::hash::Hash;
use std::sync::Arc;

use sterna_seal::{
    Entropy, EntropyError, FlowId, OsEntropy, ThreadEntropy, UnixMillis, mint_flow_id_for,
};

/// The id of a flow that begins with `request`, which tells it from those of
/// other callers.
pub(crate) fn mint(request: &impl Hash, now: UnixMillis) -> Result<FlowId, EntropyError> {
    match OTHER.try_with(|mint| mint()) {
        Ok(id) => Ok(FlowId::from_bytes(id)),
        Err(_) => mint_flow_id_for(request, now, &mut ThreadEntropy),
    }
}

/// The id of a flow that begins as a task.
pub(crate) fn mint_for_task() -> Result<[u8; 16], EntropyError> {
    if let Ok(id) = OTHER.try_with(|mint| mint()) {
        return Ok(id);
    }
    let mut id = [0; 16];
    OsEntropy.fill(&mut id)?;
    Ok(id)
}

/// Runs `future` with flow ids that `mint` makes, for tests that compare runs:
/// random values and idempotency keys are derived from the id of a flow.
///
/// An id must be secret and used once: a server that takes calls of others
/// leaves this alone. It reaches what is polled as part of `future`, such as a
/// call of a [`Service::into_tower`](crate::Service::into_tower), but no other
/// task that it spawns.
///
/// # Cancel safety
///
/// That of `future`.
pub async fn by_flow_ids<F: Future>(
    mint: impl Fn() -> [u8; 16] + Send + Sync + 'static,
    future: F,
) -> F::Output {
    OTHER.scope(Arc::new(mint), future).await
}

tokio::task_local! {
    static OTHER: Arc<dyn Fn() -> [u8; 16] + Send + Sync>;
}
