//! One message per line over any pair of byte streams.

mod pending;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use http::HeaderMap;
use sterna_protocol::lines;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use self::pending::PendingRequests;
use super::{Exchange, Outgoing, Source, Transport};
use crate::error::{Error, Fault};

/// A connection that all requests share.
#[derive(Debug)]
pub(crate) struct Lines {
    pending: Arc<PendingRequests>,
    unasked_lines: Mutex<Option<mpsc::Receiver<Vec<u8>>>>,
    endpoint: String,
    /// The reader and the writer; they end with this value.
    _tasks: JoinSet<()>,
}

impl Lines {
    pub(crate) fn new(
        endpoint: String,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        max_message: usize,
    ) -> Self {
        let (outbox, letters) = mpsc::channel(BACKLOG);
        let (unasked, unasked_lines) = mpsc::channel(BACKLOG);
        let pending = Arc::new(PendingRequests::new(outbox));
        let mut tasks = JoinSet::new();
        tasks.spawn(write(writer, letters));
        tasks.spawn(read(reader, pending.clone(), unasked, max_message));
        Self {
            pending,
            unasked_lines: Mutex::new(Some(unasked_lines)),
            endpoint,
            _tasks: tasks,
        }
    }

    /// Returns true once the connection is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.pending.is_closed()
    }

    /// Writes nothing more, which tells the server to end.
    pub(crate) fn disconnect(&self) {
        self.pending.disconnect();
    }
}

impl Transport for Lines {
    fn request(&self, request: Outgoing) -> BoxFuture<'_, Result<Exchange, Error>> {
        Box::pin(async move {
            let id = request.id.ok_or(Fault::Broken("a request without an id"))?;
            let waiting = self.pending.wait_for(id)?;
            self.pending.send(request.body).await?;
            Ok(Exchange::new(waiting))
        })
    }

    fn tell(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.pending.send(message.body))
    }

    fn open_server_stream(&self, _: HeaderMap) -> BoxFuture<'_, Result<Option<Exchange>, Error>> {
        let receiver = lock(&self.unasked_lines).take();
        Box::pin(async move { Ok(receiver.map(|receiver| Exchange::new(ServerStream(receiver)))) })
    }

    fn close(&self, _: HeaderMap) -> BoxFuture<'_, ()> {
        self.disconnect();
        Box::pin(async {})
    }

    fn has_headers(&self) -> bool {
        false
    }

    fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

struct ServerStream(mpsc::Receiver<Vec<u8>>);

impl Source for ServerStream {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async { Ok(self.0.recv().await) })
    }
}

async fn write(
    mut writer: impl AsyncWrite + Send + Unpin + 'static,
    mut letters: mpsc::Receiver<Vec<u8>>,
) {
    while let Some(letter) = letters.recv().await {
        if writer.write_all(&letter).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
    writer.shutdown().await.ok();
}

async fn read(
    mut reader: impl AsyncRead + Send + Unpin + 'static,
    pending: Arc<PendingRequests>,
    unasked: mpsc::Sender<Vec<u8>>,
    max_message: usize,
) {
    let _closing = Closing(pending.clone());
    let mut lines = lines::LineReader::new(max_message);
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = match reader.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        let mut chunk = &buffer[..read];
        loop {
            match lines.read(&mut chunk) {
                Ok(Some(line)) => pending.deliver(line, &unasked),
                Ok(None) => break,
                Err(_) => tracing::warn!(max_message, "a line of the server is too long"),
            }
        }
    }
}

/// Fails all waiting requests, however reading ended.
struct Closing(Arc<PendingRequests>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Messages that are kept for a slow reader.
const BACKLOG: usize = 256;
