//! The inspector as a server on loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use sterna_http::auth::Gate;
use sterna_http::{ConfigError, HttpConfig, HttpServer, Probes, ServeError};
use sterna_seal::{EntropyError, Keyring};
use thiserror::Error;

use crate::connections::Connector;
use crate::guard::Guard;
use crate::site::{Site, SiteEndpoint};
use crate::workbench::Workbench;

/// Settings of an [`Inspector`].
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
            .finish_non_exhaustive()
    }
}

/// An inspector that listens on loopback. There is no way to have it listen
/// elsewhere: it can call the server with the credentials of its user.
#[derive(Debug)]
pub struct Inspector {
    listener: TcpListener,
    address: SocketAddr,
    site: Arc<Site>,
}

/// The inspector cannot start or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InspectorError {
    /// The settings of the HTTP server are not accepted.
    #[error("the pages cannot be served")]
    Config(#[from] ConfigError),
    /// There are no random bytes for the ticket.
    #[error("no ticket can be drawn")]
    Entropy(#[from] EntropyError),
    /// The port cannot be listened on.
    #[error("the port cannot be listened on")]
    Listen(#[from] io::Error),
    /// The HTTP server failed.
    #[error("the pages cannot be served")]
    Serve(#[from] ServeError),
}

impl Inspector {
    /// Listens on loopback. Needs a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`InspectorError`] if the port is taken or the system has no random bytes.
    pub fn bind(config: InspectorConfig) -> Result<Self, InspectorError> {
        let listener = sterna_http::bind((Ipv4Addr::LOCALHOST, config.port))?;
        let address = listener.local_addr()?;
        let guard = Guard::new(address.port())?;
        let keys = config.keys;
        let workbench = keys.map(|keys| Workbench::new(keys, config.audience, config.tenant));
        let site = Site::new(
            config.target,
            guard,
            config.connector,
            workbench,
            config.patience,
        );
        Ok(Self {
            listener,
            address,
            site: Arc::new(site),
        })
    }

    /// Address of the pages, with the ticket that opens them once.
    pub fn url(&self) -> String {
        let ticket = self.site.ticket();
        let ticket = ticket.map_or_else(String::new, |ticket| format!("?ticket={ticket}"));
        format!("http://{}/{ticket}", self.address)
    }

    /// Serves until `until` is done. Calls that run then are cancelled, and the
    /// connections to the server are closed.
    ///
    /// # Errors
    ///
    /// [`InspectorError`] if the listener cannot be used.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the calls and cuts the connections.
    pub async fn serve(self, until: impl Future<Output = ()> + Send) -> Result<(), InspectorError> {
        let mut config = HttpConfig::default();
        config.path = None;
        config.pages = true;
        config.timeouts.drain = Duration::from_secs(1);
        let endpoint = SiteEndpoint(self.site.clone());
        let server = HttpServer::new(endpoint, Gate::open(), Probes::new(), config)?;
        server.serve_on(self.listener, until).await?;
        self.site.close().await;
        Ok(())
    }
}
