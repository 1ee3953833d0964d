//! A server that runs as a child process.

mod child;
mod command;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;

use self::child::Running;
pub use self::command::Command;
use super::{Exchange, Lines, Outgoing, Transport};
use crate::error::{Error, Fault};
use crate::oauth::BoxFuture;

/// The child, started again when it died (STDIO-C6).
#[derive(Debug)]
pub(crate) struct Stdio {
    command: Command,
    place: String,
    max_message: usize,
    running: Mutex<Option<Running>>,
    lives: AtomicU64,
}

impl Stdio {
    pub(crate) fn new(command: Command, max_message: usize) -> Result<Self, Error> {
        let running = Running::start(&command, max_message)?;
        Ok(Self {
            place: command.program.to_string_lossy().into_owned(),
            command,
            max_message,
            running: Mutex::new(Some(running)),
            lives: AtomicU64::new(0),
        })
    }

    fn lines(&self) -> Result<Arc<Lines>, Error> {
        let mut running = self.lock();
        let child = running.as_mut().ok_or(Fault::Closed)?;
        if child.lines.is_closed() {
            *child = Running::start(&self.command, self.max_message)?;
            self.lives.fetch_add(1, Ordering::SeqCst);
        }
        Ok(child.lines.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Stdio {
    fn request(&self, request: Outgoing) -> BoxFuture<'_, Result<Exchange, Error>> {
        Box::pin(async move { self.lines()?.request(request).await })
    }

    fn tell(&self, message: Outgoing) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move { self.lines()?.tell(message).await })
    }

    fn overhear(&self, headers: HeaderMap) -> BoxFuture<'_, Result<Option<Exchange>, Error>> {
        Box::pin(async move { self.lines()?.overhear(headers).await })
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

    fn place(&self) -> &str {
        &self.place
    }
}
