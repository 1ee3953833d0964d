//! A server that has been built.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;

use http::Response;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::StartError;
use super::reload::follow;
use crate::auth::Gate;
use crate::changes::Changes;
use crate::current::Current;
use crate::edge::{
    ConfigError, Drained, Edge, EdgeBody, EdgeConfig, Endpoint, Inbound, Probes, Shutdown,
    interrupted,
};
use crate::legacy::{self, Era};
use crate::modern::{self, Served};
use crate::stdio;
use crate::tasks;

/// A server that has been built and checked. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    current: Current,
    changes: Changes,
    edge: Edge<Mcp>,
    has_keys: bool,
    has_gate: bool,
}

impl Service {
    pub(super) fn new(
        current: Current,
        gate: Gate,
        probes: Probes,
        config: EdgeConfig,
        has_keys: bool,
        has_gate: bool,
    ) -> Result<Self, ConfigError> {
        let changes = current.core().changes.clone();
        let edge = Edge::new(Mcp(current.clone()), gate, probes, config)?;
        Ok(Self {
            current,
            changes,
            edge,
            has_keys,
            has_gate,
        })
    }

    /// Changes what the server offers, and tells subscribers.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.changes
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
        let shutdown = self.shutdown().clone();
        let core = self.current.core();
        let following = follow(Arc::clone(&core.keys), core.reload_keys);
        let working = tasks::work(self.current, shutdown.clone());
        let serving = async {
            let served = tokio::select! {
                served = self.edge.serve_on(listener, until) => served,
                never = following => match never {},
            };
            // Also when it never listened: nobody would tell the workers otherwise.
            shutdown.begin();
            served
        };
        let (served, ()) = tokio::join!(serving, working);
        Ok(served?)
    }

    /// Works on tasks until the [`shutdown`](Self::shutdown) begins, then hands
    /// over what is not finished. For a server that is mounted elsewhere:
    /// [`serve`](Self::serve) does it by itself.
    ///
    /// Returns at once if the server has no store.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops what runs; another worker goes on when the
    /// leases end.
    pub async fn work(&self) {
        tasks::work(self.current.clone(), self.shutdown().clone()).await;
    }

    /// Serves one client on standard input and output until its end or until
    /// the process is interrupted, then drains. Nothing else may write to
    /// standard output.
    ///
    /// # Errors
    ///
    /// [`StartError::Lines`]: the streams broke.
    pub async fn stdio(self) -> Result<(), StartError> {
        let shutdown = self.shutdown().clone();
        let serving = self.lines(stdio::Input::standard(), stdio::write_standard);
        tokio::pin!(serving);
        tokio::select! {
            served = &mut serving => return served,
            () = interrupted() => shutdown.begin(),
        }
        serving.await
    }

    /// Serves one client on any pair of byte streams, as [`stdio`](Self::stdio)
    /// does. The end of `reader`, and that of any connection made so, is the
    /// end of the server.
    ///
    /// # Errors
    ///
    /// [`StartError::Lines`]: the streams broke.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops every call.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use sterna_server::Server;
    ///
    /// let input = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
    ///     "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    /// let input = String::from_utf8(input.to_vec())?.replace('\n', "");
    /// let mut output = Vec::new();
    /// let service = Server::new("echo", "1.0.0").build()?;
    /// service.serve_lines(input.as_bytes(), &mut output).await?;
    /// assert!(output.ends_with(b"\n"));
    /// # Ok(()) }
    /// ```
    pub async fn serve_lines<R, W>(self, reader: R, writer: W) -> Result<(), StartError>
    where
        R: AsyncRead + Unpin + Send,
        W: AsyncWrite + Unpin + Send,
    {
        self.lines(reader, |lines| stdio::write(lines, writer))
            .await
    }

    async fn lines<R, W>(
        self,
        reader: R,
        write: impl FnOnce(mpsc::Receiver<Vec<u8>>) -> W,
    ) -> Result<(), StartError>
    where
        R: AsyncRead + Unpin + Send,
        W: Future<Output = io::Result<()>>,
    {
        let shutdown = self.shutdown().clone();
        let config = self.edge.config();
        let working = tasks::work(self.current.clone(), shutdown.clone());
        let serving = async {
            let current = self.current.clone();
            let served = stdio::serve(current, config, shutdown.clone(), reader, write).await;
            shutdown.begin();
            served
        };
        let (served, ()) = tokio::join!(serving, working);
        served.map_err(StartError::Lines)
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
        self.current.core().fmt(f)
    }
}

/// MCP behind the edge: the endpoint of a [`Service`].
pub struct Mcp(Current);

impl Endpoint for Mcp {
    fn call(&self, inbound: Inbound) -> impl Future<Output = Response<EdgeBody>> + Send {
        let core = self.0.core();
        let served = match legacy::era(&inbound) {
            Era::Modern => modern::answer(core, inbound),
            Era::Legacy if core.legacy => Served::later(legacy::answer(core, inbound)),
            Era::Legacy => match legacy::not_spoken(&inbound) {
                Some(refusal) => Served::Now(refusal),
                None => modern::answer(core, inbound),
            },
        };
        served.finish()
    }
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.core().fmt(f)
    }
}
