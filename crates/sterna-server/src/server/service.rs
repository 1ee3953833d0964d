//! A server that has been built.

use std::fmt;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;

use http::Response;

use super::StartError;
use super::reload::follow;
use crate::auth::Gate;
use crate::changes::Changes;
use crate::core::Core;
use crate::edge::{
    ConfigError, Drained, Edge, EdgeBody, EdgeConfig, Endpoint, Inbound, Probes, Shutdown,
    interrupted,
};
use crate::modern;

/// A server that has been built and checked. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    core: Arc<Core>,
    edge: Edge<Mcp>,
    has_keys: bool,
    has_gate: bool,
}

impl Service {
    pub(super) fn new(
        core: Arc<Core>,
        gate: Gate,
        probes: Probes,
        config: EdgeConfig,
        has_keys: bool,
        has_gate: bool,
    ) -> Result<Self, ConfigError> {
        let edge = Edge::new(Mcp(Arc::clone(&core)), gate, probes, config)?;
        Ok(Self {
            core,
            edge,
            has_keys,
            has_gate,
        })
    }

    /// Tells subscribers that something of the server has changed.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.core.changes
    }

    /// The signal that ends the server.
    #[must_use]
    pub fn shutdown(&self) -> &Shutdown {
        self.edge.shutdown()
    }

    /// Serves at `address` until the process is interrupted, then drains.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what to do about it.
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), StartError> {
        let listener = TcpListener::bind(address).map_err(StartError::Address)?;
        self.serve_on(listener, interrupted()).await.map(drop)
    }

    /// Serves on a listener that is already there until `until` is done.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what to do about it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cuts every connection. Let `until` end instead.
    pub async fn serve_on(
        self,
        listener: TcpListener,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Drained, StartError> {
        self.check(listener.local_addr().map_err(StartError::Address)?)?;
        let pause = self.core.reload_keys;
        let keys = Arc::clone(&self.core.keys);
        let following = async move {
            if !pause.is_zero() {
                follow(keys, pause).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            drained = self.edge.serve_on(listener, until) => Ok(drained?),
            () = following => unreachable!("it never ends"),
        }
    }

    /// The server as a tower service, for a router or for layers around it.
    ///
    /// # Errors
    ///
    /// [`StartError::NoKeys`]: where such a service listens cannot be known, so
    /// it must have keys that other instances can have too.
    pub fn into_tower(self) -> Result<Edge<Mcp>, StartError> {
        if self.has_keys {
            Ok(self.edge)
        } else {
            Err(StartError::NoKeys { address: None })
        }
    }

    /// Whether what the author left open is safe at `address`.
    fn check(&self, address: SocketAddr) -> Result<(), StartError> {
        if address.ip().is_loopback() {
            return Ok(());
        }
        if !self.has_keys {
            let address = Some(address);
            return Err(StartError::NoKeys { address });
        }
        // HTTP-S4
        if !self.has_gate {
            return Err(StartError::NoGate { address });
        }
        Ok(())
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}

/// MCP behind the edge: the endpoint of a [`Service`].
pub struct Mcp(Arc<Core>);

impl Endpoint for Mcp {
    async fn call(&self, inbound: Inbound) -> Response<EdgeBody> {
        modern::answer(Arc::clone(&self.0), inbound).await
    }
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
