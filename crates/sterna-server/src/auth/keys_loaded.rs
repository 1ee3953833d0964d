//! The readiness of the resource server: its issuers' keys are there.

use std::sync::Arc;

use super::resource_server::Issuer;
use crate::edge::{Check, Checking, Health, clock};

#[derive(Clone)]
pub(super) struct KeysLoaded(pub(super) Vec<Arc<Issuer>>);

impl Check for KeysLoaded {
    fn name(&self) -> &'static str {
        "jwks"
    }

    fn check(&self) -> Checking {
        let issuers = self.0.clone();
        Box::pin(async move {
            let mut ids = Vec::new();
            for issuer in &issuers {
                let mut glance = issuer.keys.glance(clock::now());
                if glance.keys.is_none() && glance.may_refresh {
                    glance = issuer.keys.refresh(&glance).await;
                }
                let Some(keys) = glance.keys else {
                    return Health::failing();
                };
                ids.extend(keys.ids().map(str::to_owned));
            }
            Health::passing().with_ids(ids)
        })
    }
}
