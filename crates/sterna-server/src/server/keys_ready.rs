//! The readiness of the seal: there is a key to mint with.

use std::sync::Arc;

use sterna_http::{Check, Checking, Health};
use sterna_seal::SharedKeyring;

use crate::environment::now;

/// Lists the ids of the keys, by which an operator sees a replica that has
/// others.
pub(super) struct KeysReady(pub(super) Arc<SharedKeyring>);

impl Check for KeysReady {
    fn name(&self) -> &'static str {
        "keys"
    }

    fn check(&self) -> Checking {
        let ring = self.0.current();
        let health = match ring.minting_key(now()) {
            Some(_) => Health::passing(),
            None => Health::failing(),
        };
        let health = health.with_ids(ring.keys().map(|key| key.id().to_string()));
        Box::pin(std::future::ready(health))
    }
}
