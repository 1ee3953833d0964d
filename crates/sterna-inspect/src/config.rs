//! Settings of an inspector.

use std::sync::Arc;
use std::time::Duration;

use sterna_seal::Keyring;
use sterna_store::Survey;

use crate::connections::Connector;

/// Settings of an [`Inspector`](crate::Inspector).
#[non_exhaustive]
pub struct InspectorConfig {
    /// Name of the inspected server, as the pages show it.
    pub target: String,
    /// Prepares connections to it.
    pub connector: Connector,
    /// Keys of the server, to open its request state. `None` by default.
    pub keys: Option<Keyring>,
    /// Audience of its tokens. `None` takes the name of the server, as servers do.
    pub audience: Option<String>,
    /// Tenant of its tokens, if the server has tenants.
    pub tenant: Option<String>,
    /// Store of the server, to show its tasks and its ledger. `None` by default.
    pub store: Option<Arc<dyn Survey>>,
    /// Longest time that a page waits for a connection, and for one list. Twenty
    /// seconds: a command may have to be downloaded first.
    pub patience: Duration,
    /// Port to listen on. Zero by default: a free one.
    pub port: u16,
}

impl InspectorConfig {
    /// Inspects the server that `connector` connects to.
    pub fn new(target: impl Into<String>, connector: Connector) -> Self {
        Self {
            target: target.into(),
            connector,
            keys: None,
            audience: None,
            tenant: None,
            store: None,
            patience: Duration::from_secs(20),
            port: 0,
        }
    }
}

impl std::fmt::Debug for InspectorConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InspectorConfig")
            .field("target", &self.target)
            .field("has_keys", &self.keys.is_some())
            .field("has_store", &self.store.is_some())
            .finish_non_exhaustive()
    }
}
