//! Answers that wait for their reader, and connections that do not read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::budget::Reservation;
use super::clock;
use super::monitor::{ConnectionMonitor, StreamMonitor};

/// A whole answer that is written in pieces.
///
/// The HTTP library asks for the next piece when the last one has found room,
/// so the peer is seen to read. When the last piece has been written, the
/// charge ends, and so does the time that the peer has for reading.
#[derive(Debug)]
pub(super) struct Pieces {
    rest: Bytes,
    monitor: Option<Arc<StreamMonitor>>,
}

impl Pieces {
    pub(super) fn new(
        bytes: Bytes,
        hold: Option<Reservation>,
        monitor: Option<StreamMonitor>,
    ) -> Self {
        let monitor = monitor.map(Arc::new);
        // The peer may leave no room from the start.
        if let Some(monitor) = &monitor {
            match hold {
                Some(_) => monitor.given_of(clock::now()),
                None => monitor.given(),
            }
        }
        let rest = match hold {
            Some(hold) => hold.keep_for(bytes, monitor.clone()),
            None => bytes,
        };
        Self { rest, monitor }
    }

    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn next(&mut self) -> Option<Bytes> {
        if self.rest.is_empty() {
            return None;
        }
        let size = match &self.monitor {
            Some(monitor) => {
                monitor.given();
                PIECE.min(self.rest.len())
            }
            // The server that this service is mounted in has rules of its own.
            None => self.rest.len(),
        };
        Some(self.rest.split_to(size))
    }
}

/// The open connections, to find the one whose answer waits to be read.
#[derive(Debug, Default)]
pub(super) struct Readers(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    next: u64,
    connections: HashMap<u64, Arc<ConnectionMonitor>>,
    looked_at: Option<Instant>,
    warned_at: Option<Instant>,
}

impl Readers {
    /// Adds a connection for as long as the guard lives.
    pub(super) fn add(&self, monitor: &Arc<ConnectionMonitor>) -> Reading<'_> {
        let mut table = self.lock();
        table.next += 1;
        let number = table.next;
        table.connections.insert(number, Arc::clone(monitor));
        Reading {
            readers: self,
            number,
        }
    }

    /// Has the connection closed whose answer has waited longest to be read to
    /// its end, if that is a second or more, because `held` bytes are too many.
    ///
    /// A connection that reads a little now and then is closed too: it holds its
    /// bytes until the end.
    pub(super) fn close_slowest(&self, held: usize, now: Instant) {
        let mut table = self.lock();
        // Every refused request comes here, and looking costs as much as there are connections.
        if table.looked_at.is_some_and(|at| now < at + INTERVAL) {
            return;
        }
        table.looked_at = Some(now);
        if table.warned_at.is_none_or(|at| now >= at + SILENCE) {
            table.warned_at = Some(now);
            tracing::warn!(target: "sterna::http", held, "MR0140: the memory for peers is used up");
        }
        let unread = table.connections.values().filter_map(|monitor| {
            let since = monitor.holds_since()?;
            Some((since, monitor))
        });
        if let Some((since, monitor)) = unread.min_by_key(|(since, _)| *since)
            && since + PATIENCE <= now
        {
            monitor.close();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection among the [`Readers`].
#[derive(Debug)]
pub(super) struct Reading<'a> {
    readers: &'a Readers,
    number: u64,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.readers.lock().connections.remove(&self.number);
    }
}

/// As much of an answer as is given to the HTTP library at once. What it is
/// given it keeps until it is written, so this bounds what an HTTP/2 stream
/// without room holds twice.
pub(super) const PIECE: usize = 64 << 10;

/// A reader that pauses for less is not held responsible for a lack of memory.
const PATIENCE: Duration = Duration::from_secs(1);

/// Interval between equal log lines.
const SILENCE: Duration = Duration::from_secs(10);

/// Interval between checks of the connections.
const INTERVAL: Duration = Duration::from_millis(10);
