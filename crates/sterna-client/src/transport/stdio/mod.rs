//! A server that runs as a child process.

mod child;
mod command;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use http::HeaderMap;

use self::child::{Running, Witness};
pub use self::command::Command;
use super::{Exchange, Lines, Outgoing, Source, Transport};
use crate::error::{Error, Fault};

/// The child, started again when it died (STDIO-C6).
#[derive(Debug)]
pub(crate) struct Stdio {
    command: Command,
    endpoint: String,
    max_message: usize,
    running: Mutex<Option<Running>>,
    lives: AtomicU64,
}

impl Stdio {
    pub(crate) fn new(command: Command, max_message: usize) -> Result<Self, Error> {
        let running = Running::start(&command, max_message)?;
        Ok(Self {
            endpoint: command.program.to_string_lossy().into_owned(),
            command,
            max_message,
            running: Mutex::new(Some(running)),
            lives: AtomicU64::new(0),
        })
    }

    fn lines(&self) -> Result<(Arc<Lines>, Witness), Error> {
        let mut running = self.lock();
        let child = running.as_mut().ok_or(Fault::Closed)?;
        if child.lines.is_closed() {
            *child = Running::start(&self.command, self.max_message)?;
            self.lives.fetch_add(1, Ordering::SeqCst);
        }
        Ok((child.lines.clone(), child.witness()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Stdio {
    fn request(&self, request: Outgoing) -> BoxFuture<'_, Result<Exchange, Error>> {
        Box::pin(async move {
            let (lines, witness) = self.lines()?;
            match lines.request(request).await {
                Ok(exchange) => Ok(exchange.map(|source| Witnessed { source, witness })),
                Err(error) => Err(witness.explain(error).await),
            }
        })
    }

    fn tell(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let (lines, witness) = self.lines()?;
            match lines.tell(message).await {
                Ok(()) => Ok(()),
                Err(error) => Err(witness.explain(error).await),
            }
        })
    }

    fn open_server_stream(
        &self,
        headers: HeaderMap,
    ) -> BoxFuture<'_, Result<Option<Exchange>, Error>> {
        Box::pin(async move { self.lines()?.0.open_server_stream(headers).await })
    }

    fn close(&self, _: HeaderMap) -> BoxFuture<'_, ()> {
        let running = self.lock().take();
        Box::pin(async move {
            if let Some(running) = running {
                running.leave(self.command.grace).await;
            }
        })
    }

    fn epoch(&self) -> Result<u64, Error> {
        self.lines()?;
        Ok(self.lives.load(Ordering::SeqCst))
    }

    fn has_headers(&self) -> bool {
        false
    }

    fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

/// Messages of a child; how it ended takes the place of their end.
struct Witnessed {
    source: Box<dyn Source>,
    witness: Witness,
}

impl Source for Witnessed {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async {
            match self.source.next().await {
                Err(error) => Err(self.witness.explain(error).await),
                next => next,
            }
        })
    }
}
