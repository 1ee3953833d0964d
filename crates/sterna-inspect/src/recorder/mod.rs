//! Recorders between a real client and the inspected server: a proxy for HTTP,
//! and pipes for stdio. Bytes go on as they are, and a masked copy of the messages
//! is kept for the pages.

mod reading;

mod recordings;

mod stdio;
mod tee;

mod conversation;
mod forward;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

pub(crate) use forward::{Upstream, UpstreamError};
pub(crate) use recordings::{Exchange, ExchangeOutcome, Recordings};
pub use stdio::StdioRecorder;

use conversation::Conversation;

/// The proxy cannot start.
#[derive(Debug, Error)]
pub(crate) enum RecordError {
    #[error("{0} cannot be listened on")]
    Listen(SocketAddr, #[source] io::Error),
    #[error("{0} is not an address of this machine alone: use 127.0.0.1:PORT")]
    NotLoopback(SocketAddr),
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
}

/// Reader of a client and a server on stdio.
#[derive(Debug)]
pub(crate) struct StdioListener {
    arriving: mpsc::Receiver<stdio::Copied>,
    conversation: Conversation,
}

impl StdioListener {
    /// Makes a recorder, and the reader of what it copies.
    pub(crate) fn new(recordings: Arc<Recordings>) -> (StdioRecorder, Self) {
        let (recorder, arriving) = StdioRecorder::new();
        let conversation = Conversation::new(recordings);
        let listener = Self {
            arriving,
            conversation,
        };
        (recorder, listener)
    }

    /// Reads until all recorders are dropped.
    pub(crate) async fn listen(mut self) {
        self.conversation.listen(self.arriving).await;
    }
}

/// A proxy that listens.
#[derive(Debug)]
pub(crate) struct Recorder {
    listener: TcpListener,
    address: SocketAddr,
    upstream: Arc<Upstream>,
    recordings: Arc<Recordings>,
}

impl Recorder {
    /// Listens at `listen`, which must be loopback, for requests to `target`.
    pub(crate) fn bind(
        listen: SocketAddr,
        target: &str,
        recordings: Arc<Recordings>,
    ) -> Result<Self, RecordError> {
        if !listen.ip().is_loopback() {
            return Err(RecordError::NotLoopback(listen));
        }
        let failed = |error| RecordError::Listen(listen, error);
        let listener = sterna_http::bind(listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let upstream = Arc::new(Upstream::new(target, address.port())?);
        Ok(Self {
            listener,
            address,
            upstream,
            recordings,
        })
    }

    /// Address for the client: that of the target, on this machine.
    pub(crate) fn url(&self) -> String {
        format!("http://{}{}", self.address, self.upstream.path())
    }

    /// Forwards requests until it is dropped.
    pub(crate) async fn serve(self) -> Result<(), io::Error> {
        self.listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            // Beyond the limit, connections wait in the queue of the system.
            let place = Arc::clone(&room).acquire_owned().await;
            let (stream, _) = match listener.accept().await {
                Ok(accepted) => accepted,
                // One that was reset before it was accepted concerns only its client.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error),
            };
            // An event is passed on when it comes, not when more have come.
            let _ = stream.set_nodelay(true);
            let (upstream, recordings) = (Arc::clone(&self.upstream), Arc::clone(&self.recordings));
            while connections.try_join_next().is_some() {}
            connections.spawn(async move {
                let _place = place;
                let service = service_fn(|request| {
                    let (upstream, recordings) = (Arc::clone(&upstream), Arc::clone(&recordings));
                    async move {
                        Ok::<_, std::convert::Infallible>(
                            upstream.forward(request, recordings).await,
                        )
                    }
                });
                // A connection that breaks concerns only its client.
                let _ = hyper::server::conn::http1::Builder::new()
                    .timer(hyper_util::rt::TokioTimer::new())
                    .max_headers(100)
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }
}

/// Connections at once: far more than one client opens.
const MOST_CONNECTIONS: usize = 200;
