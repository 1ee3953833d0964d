//! First requests with an `Idempotency-Key`.

use http::HeaderValue;
use sterna_runner::effects::random_bytes;
use sterna_seal::{BlobId, FlowId};
use sterna_store::ErrorKind;

use super::incoming::Incoming;
use crate::core::RouteCore;
use crate::fault::Fault;
use crate::resume::digest_of;

/// Returns the flow of a first request that names a key; `None` if it names none,
/// or if there is no store.
///
/// A flow's id must not be guessed, because random values are made of it, and
/// must be the same on every instance that gets the request. So it is drawn
/// once, and the store keeps it under a digest of realm, caller, route and key.
pub(super) async fn flow_of<S>(
    route: &RouteCore<S>,
    incoming: &Incoming,
) -> Result<Option<FlowId>, Fault> {
    let Some(key) = &incoming.idempotency_key else {
        return match route.requires_key {
            true => Err(Fault::KeyMissing),
            false => Ok(None),
        };
    };
    let key = read(key).ok_or(Fault::KeyMalformed)?;
    let Some(store) = &route.resume.store else {
        return Ok(None);
    };
    let (method, path) = incoming.target.name();
    let digest = digest_of(
        "sterna idempotency v1",
        &[
            route.resume.audience.as_bytes(),
            &incoming.caller.to_bytes(),
            method.as_bytes(),
            path.as_bytes(),
            key.as_bytes(),
        ],
    );
    let mut name = [0; 16];
    name.copy_from_slice(&digest[..16]);
    let name = BlobId::from_bytes(name);
    let broken = |error| Fault::broken("MR0404: an idempotency key cannot be kept", &error);
    if let Some(flow) = store.blob(name).await.map_err(broken)? {
        return flow_in(&flow).map(Some);
    }
    let fresh = match &route.resume.flow_ids {
        Some(draw) => draw(),
        None => {
            let drawn = random_bytes();
            let bytes = drawn.map_err(|error| Fault::broken("no flow can be begun", &error))?;
            store.place_flow(FlowId::from_bytes(bytes))
        }
    };
    // Longer than the rounds of the flow: as long as one is known, so is its flow.
    let lifetime = route.resume.config.lifetimes.flow.saturating_mul(2);
    let kept = store
        .put_blob(name, fresh.as_bytes().to_vec().into(), lifetime)
        .await;
    match kept {
        Ok(()) => Ok(Some(fresh)),
        // An equal request was faster.
        Err(error) if error.kind() == ErrorKind::Conflict => {
            let flow = store.blob(name).await.map_err(broken)?;
            flow_in(&flow.ok_or(Fault::Busy)?).map(Some)
        }
        Err(error) => Err(broken(error)),
    }
}

fn flow_in(bytes: &[u8]) -> Result<FlowId, Fault> {
    let bytes = bytes.try_into().map_err(|_| Fault::Internal)?;
    Ok(FlowId::from_bytes(bytes))
}

/// Returns the key in a header: a string of structured fields, or the same
/// without its quotation marks, as many clients send it.
fn read(header: &HeaderValue) -> Option<&str> {
    let key = header.to_str().ok()?.trim();
    let key = match key.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"')?,
        None => key,
    };
    (1..=LONGEST_KEY).contains(&key.len()).then_some(key)
}

const LONGEST_KEY: usize = 255;
