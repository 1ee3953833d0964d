//! Which servers were of an earlier revision when they were last asked.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The clients of one process need not all find out anew. Servers that speak
/// 2026-07-28 are not here: they are asked what they are in any case. A server is
/// its whole address, since one origin may hold servers of both eras.
static LEGACY: Mutex<Option<HashMap<String, Instant>>> = Mutex::new(None);

/// Whether the server at `place` needs no probe.
pub(super) fn is_legacy(place: &str) -> bool {
    let memory = lock();
    let found = memory.as_ref().and_then(|servers| servers.get(place));
    found.is_some_and(|since| since.elapsed() < FRESH)
}

pub(super) fn remember(place: &str) {
    let mut memory = lock();
    let servers = memory.get_or_insert_default();
    servers.retain(|_, since| since.elapsed() < FRESH);
    if servers.len() < MOST_SERVERS {
        servers.insert(place.to_owned(), Instant::now());
    }
}

pub(super) fn forget(place: &str) {
    if let Some(servers) = lock().as_mut() {
        servers.remove(place);
    }
}

fn lock() -> MutexGuard<'static, Option<HashMap<String, Instant>>> {
    LEGACY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An update of a server is noticed on the same day.
const FRESH: Duration = Duration::from_secs(3600);
const MOST_SERVERS: usize = 1024;
