//! Settings of an inspector.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use sterna_client::BoxError;
use sterna_protocol::sampling::{CreateMessageRequestParams, CreateMessageResult};
use sterna_seal::Keyring;
use sterna_store::Survey;

use crate::bundle::Bundle;
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
    /// Writes the text of a model when a server asks for one. `None` by default: it
    /// is written by hand.
    pub sampler: Option<Sampler>,
    /// Records a client on its way to the server. `None` by default.
    pub record: Option<RecordConfig>,
    /// A call to show instead of a server; see [`InspectorConfig::of_bundle`].
    pub(crate) bundle: Option<Bundle>,
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
            sampler: None,
            record: None,
            bundle: None,
            patience: Duration::from_secs(20),
            port: 0,
        }
    }

    /// Shows a call that was kept in a file. Nothing is connected to.
    pub fn of_bundle(bundle: Bundle) -> Self {
        let no_server: Connector =
            Arc::new(|| Err("the call was read from a file and has no server".into()));
        let mut config = Self::new(bundle.target(), no_server);
        config.bundle = Some(bundle);
        config
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

/// Writes the text of a model for a sampling request.
pub type Sampler = Arc<
    dyn Fn(
            CreateMessageRequestParams,
        ) -> Pin<Box<dyn Future<Output = Result<CreateMessageResult, BoxError>> + Send>>
        + Send
        + Sync,
>;

/// The way of a client that is recorded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RecordConfig {
    /// A proxy for a server with a URL.
    Http {
        /// Address to listen on. It must be loopback: the proxy sends requests on with
        /// the credentials that they have.
        listen: SocketAddr,
        /// URL of the server.
        url: String,
    },
    /// Pipes, which the caller passes on with
    /// [`Inspector::stdio_recorder`](crate::Inspector::stdio_recorder). The pages
    /// begin with what was recorded, and connect to the server only on demand.
    Stdio,
}

impl RecordConfig {
    /// Listens at `listen` for requests to the server at `url`.
    pub fn http(listen: SocketAddr, url: impl Into<String>) -> Self {
        Self::Http {
            listen,
            url: url.into(),
        }
    }
}
