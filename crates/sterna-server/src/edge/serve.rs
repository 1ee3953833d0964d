//! Accepting connections, and letting them go.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::connection::connection;
use super::endpoint::Endpoint;
use super::error::ServeError;
use super::service::Edge;

/// How a server came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drained {
    /// Connections that were still busy when the time to drain was over.
    pub cut: usize,
}

impl<E: Endpoint> Edge<E> {
    /// Listens on `address` and serves until `until` is done or the
    /// [`shutdown`](Self::shutdown) has begun, then drains.
    ///
    /// # Errors
    ///
    /// [`ServeError`] when `address` cannot be listened on.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cuts every connection. Let `until` end instead.
    pub async fn serve(
        self,
        address: impl ToSocketAddrs,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Drained, ServeError> {
        let addresses: Vec<_> = address.to_socket_addrs()?.collect();
        // Tokio's queue of connections not accepted yet is longer than the standard library's.
        let listener = tokio::net::TcpListener::bind(&*addresses).await?;
        self.run(listener, until).await
    }

    /// Serves on a listener that is already there.
    ///
    /// # Errors
    ///
    /// [`ServeError`] when the listener cannot be used.
    ///
    /// # Cancel safety
    ///
    /// As [`serve`](Self::serve).
    pub async fn serve_on(
        self,
        listener: TcpListener,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Drained, ServeError> {
        listener.set_nonblocking(true)?;
        self.run(tokio::net::TcpListener::from_std(listener)?, until)
            .await
    }

    async fn run(
        self,
        listener: tokio::net::TcpListener,
        until: impl Future<Output = ()> + Send,
    ) -> Result<Drained, ServeError> {
        let bound = listener.local_addr()?;
        if !self.0.access.is_reachable_at(bound) {
            tracing::warn!(
                target: "sterna::edge",
                %bound,
                "listening on every address, but answering to loopback names only: list the names of this server in `hosts`"
            );
        }
        let mut connections = JoinSet::new();
        let leaving = async {
            tokio::select! {
                () = until => {}
                () = self.0.shutdown.begun() => {}
            }
            self.0.shutdown.begin();
            tokio::time::sleep(self.0.config.timeouts.notice).await;
        };
        self.accept(listener, bound, &mut connections, leaving)
            .await;
        self.0.closing.begin();
        Ok(self.drain(connections).await)
    }

    async fn accept(
        &self,
        listener: tokio::net::TcpListener,
        bound: SocketAddr,
        connections: &mut JoinSet<()>,
        leaving: impl Future<Output = ()>,
    ) {
        let mut leaving = pin!(leaving);
        let limit = self.0.config.limits.connections;
        loop {
            tokio::select! {
                biased;
                () = &mut leaving => return,
                Some(_) = connections.join_next() => {}
                accepted = listener.accept(), if connections.len() < limit => match accepted {
                    Ok((stream, peer)) => self.welcome(connections, stream, peer, bound),
                    Err(error) => pause_after(&error).await,
                },
            }
            self.0.numbers.connected(connections.len());
        }
    }

    fn welcome(
        &self,
        connections: &mut JoinSet<()>,
        stream: TcpStream,
        peer: SocketAddr,
        bound: SocketAddr,
    ) {
        // An answer is written whole, so waiting for more to send only delays it. A peer that
        // is gone already is noticed with the first read.
        let _ = stream.set_nodelay(true);
        let named = (!bound.ip().is_unspecified()).then_some(bound);
        connections.spawn(connection(Arc::clone(&self.0), stream, peer, named));
    }

    async fn drain(&self, mut connections: JoinSet<()>) -> Drained {
        let drained = async { while connections.join_next().await.is_some() {} };
        let in_time = tokio::time::timeout(self.0.config.timeouts.drain, drained).await;
        let cut = if in_time.is_ok() {
            0
        } else {
            connections.len()
        };
        connections.shutdown().await;
        self.0.numbers.connected(0);
        Drained { cut }
    }
}

/// An error about one connection is none of ours; one about the machine, such
/// as too many open files, passes when a connection ends.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    ) {
        return;
    }
    tracing::warn!(target: "sterna::edge", %error, "connections cannot be accepted for now");
    tokio::time::sleep(PAUSE).await;
}

const PAUSE: Duration = Duration::from_millis(100);
