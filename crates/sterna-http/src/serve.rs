//! Accepting connections, and letting them go.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep_until;

use super::clock;
use super::config::ServeError;
use super::connection::serve_connection;
use super::connection_store::ConnectionStore;
use super::connections::{Admitted, Connections};
use super::endpoint::Endpoint;
use super::http_server::HttpServer;
use super::monitor::ConnectionMonitor;
use super::pipeline::ConnectionInfo;

/// The result of a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrainReport {
    /// Connections that were still busy when the time to drain was over.
    pub aborted: usize,
}

impl<E: Endpoint> HttpServer<E> {
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
    ) -> Result<DrainReport, ServeError> {
        self.serve_on(bind(address)?, until).await
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
    ) -> Result<DrainReport, ServeError> {
        listener.set_nonblocking(true)?;
        self.run(tokio::net::TcpListener::from_std(listener)?, until)
            .await
    }

    async fn run(
        self,
        listener: tokio::net::TcpListener,
        until: impl Future<Output = ()> + Send,
    ) -> Result<DrainReport, ServeError> {
        let bound = listener.local_addr()?;
        if !self.0.access.is_reachable_at(bound) {
            tracing::warn!(
                target: "sterna::http",
                %bound,
                "listening on every address, but answering to loopback names only: list the names of this server in `hosts`"
            );
        }
        let mut connections = Connections::new(self.0.config.limits.connections);
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
        connections: &mut Connections,
        leaving: impl Future<Output = ()>,
    ) {
        let mut leaving = pin!(leaving);
        let longest_idle = self.0.config.timeouts.exit_when_idle;
        let mut quiet_since = clock::now();
        let idle_at = quiet_since + longest_idle.unwrap_or_default();
        let mut idle_check = pin!(sleep_until(idle_at.into()));
        loop {
            tokio::select! {
                biased;
                () = &mut leaving => return,
                Some(()) = connections.ended() => quiet_since = clock::now(),
                () = &mut idle_check, if longest_idle.is_some() => {
                    let longest = longest_idle.unwrap_or_default();
                    let now = clock::now();
                    let idle_since = self.idle_since(connections, quiet_since);
                    let again = idle_since.map_or_else(|| now + longest.min(IDLE_CHECK), |at| at + longest);
                    if again <= now {
                        self.0.shutdown.begin();
                        return;
                    }
                    idle_check.as_mut().reset(again.into());
                }
                accepted = listener.accept(), if connections.has_room() => match accepted {
                    Ok((stream, peer)) => {
                        quiet_since = clock::now();
                        self.spawn_connection(connections, stream, peer, bound);
                    }
                    Err(error) if is_of_one_connection(&error) => {}
                    Err(error) => {
                        // Too many open files, as a rule: one idle connection makes room.
                        connections.close_longest_idle(Admitted::Fully);
                        pause_after(&error).await;
                    }
                },
            }
            self.0.metrics.connected(connections.len());
        }
    }

    /// Returns the moment since which there has been nothing to do; `None` while a
    /// connection has a request.
    fn idle_since(&self, connections: &Connections, quiet_since: Instant) -> Option<Instant> {
        let since = connections.idle_since(quiet_since)?;
        Some(since.max(self.0.endpoint.last_work().unwrap_or(since)))
    }

    fn spawn_connection(
        &self,
        connections: &mut Connections,
        stream: TcpStream,
        peer: SocketAddr,
        bound: SocketAddr,
    ) {
        // An answer is written whole, so waiting for more to send only delays it. A peer that
        // is gone already is noticed with the first read.
        let _ = stream.set_nodelay(true);
        let named = (!bound.ip().is_unspecified()).then_some(bound);
        let monitor = ConnectionMonitor::new(clock::now());
        let admitted = connections.admit();
        let info = ConnectionInfo {
            peer: Some(peer),
            bound: named,
            monitor: Some(Arc::clone(&monitor)),
            admitted,
            store: ConnectionStore::new(),
            ..ConnectionInfo::default()
        };
        let serving = serve_connection(Arc::clone(&self.0), stream, info, Arc::clone(&monitor));
        connections.open(monitor, admitted, serving);
    }

    async fn drain(&self, mut connections: Connections) -> DrainReport {
        let drained = async { while connections.ended().await.is_some() {} };
        let in_time = tokio::time::timeout(self.0.config.timeouts.drain, drained).await;
        let aborted = if in_time.is_ok() {
            0
        } else {
            connections.len()
        };
        connections.cut().await;
        self.0.metrics.connected(0);
        DrainReport { aborted }
    }
}

/// Returns the first TCP socket that a service manager has passed to this process
/// (`LISTEN_FDS`, as systemd's socket activation does); `None` if there is none.
///
/// # Errors
///
/// The first of the sockets that were passed does not listen on TCP.
pub fn passed_listener() -> io::Result<Option<TcpListener>> {
    listenfd::ListenFd::from_env().take_tcp_listener(0)
}

/// Listens on the first of the addresses that can be had.
///
/// Needs a runtime, as all of tokio's sockets do.
///
/// # Errors
///
/// None of the addresses can be listened on; the error names them.
pub fn bind(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut tried = Vec::new();
    let mut failed = None;
    for address in address.to_socket_addrs()? {
        match bind_one(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = Some(error),
        }
        tried.push(address.to_string());
    }
    Err(match failed {
        None => io::Error::other("there is no address to listen on"),
        Some(error) => io::Error::new(error.kind(), format!("{}: {error}", tried.join(", "))),
    })
}

fn bind_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // On Windows it would let another process take the address over.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(QUEUE)?.into_std()
}

/// Returns `true` for an error of the connection that was to be accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// Waits for an error of the machine, such as too many open files, to pass.
async fn pause_after(error: &io::Error) {
    tracing::warn!(target: "sterna::http", %error, "connections cannot be accepted for now");
    tokio::time::sleep(PAUSE).await;
}

/// Connections that wait to be accepted. The standard library and tokio ask for
/// 128, which one burst of clients fills.
const QUEUE: u32 = 1024;

const PAUSE: Duration = Duration::from_millis(100);

/// Time after which a server that was busy looks again whether it is idle.
const IDLE_CHECK: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn many_may_connect_before_the_first_is_accepted() {
        let listener = bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        for _ in 0..600 {
            let connected = TcpStream::connect_timeout(&address, Duration::from_secs(5));
            waiting.push(connected.unwrap());
        }
        assert_eq!(waiting.len(), 600);
    }
}
