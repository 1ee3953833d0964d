//! Sessions that an instance knows.

mod ends;
mod state;

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sterna_http::Budget;

use crate::failure::Failure;
use ends::Ends;
use state::NotWatched;
pub(crate) use state::{ClientAnswer, DISCONNECTED, SessionState, stop};

/// Name of a session.
pub(crate) type Key = [u8; 16];

/// The sessions that something is going on in here, and those that were ended
/// here. Both are bounded, and neither is needed to serve a plain call.
#[derive(Debug)]
pub(crate) struct SessionTable {
    instance: u64,
    table: Mutex<KnownSessions>,
    ends: Ends,
}

#[derive(Debug, Default)]
struct KnownSessions {
    live: HashMap<Key, Arc<SessionState>>,
    /// In the order in which they were last needed, roughly.
    order: VecDeque<Key>,
    ended: HashSet<Key>,
    ended_order: VecDeque<Key>,
}

impl SessionTable {
    pub(crate) fn new() -> Self {
        Self {
            // Random in every process, which is all that is asked of it.
            instance: RandomState::new().build_hasher().finish(),
            table: Mutex::default(),
            ends: Ends::new(),
        }
    }

    /// Knowledge of sessions that were ended elsewhere.
    pub(crate) fn ends(&self) -> &Ends {
        &self.ends
    }

    /// The name of this instance in the ids of its questions.
    pub(crate) fn instance(&self) -> u64 {
        self.instance
    }

    /// Returns the state of a session, and creates it if there is none.
    ///
    /// # Errors
    ///
    /// Too many other sessions have something going on.
    pub(crate) fn live(&self, key: Key) -> Result<Arc<SessionState>, Failure> {
        let mut table = self.lock();
        if let Some(live) = table.live.get(&key) {
            return Ok(Arc::clone(live));
        }
        if table.live.len() >= MOST_SESSIONS {
            table.forget_one()?;
        }
        let live = Arc::new(SessionState::default());
        table.live.insert(key, Arc::clone(&live));
        table.order.push_back(key);
        Ok(live)
    }

    /// Adds `uri` to what the session `key` watches. For lack of memory the
    /// sessions are forgotten that nothing is going on in.
    pub(crate) fn watch(&self, key: Key, uri: &str, memory: &Arc<Budget>) -> Result<(), Failure> {
        if uri.len() > memory.limits().uri_bytes {
            return Err(Failure::params(
                "`uri` is longer than this server takes (`limits.uri_bytes`)",
            ));
        }
        let live = self.live(key)?;
        loop {
            match live.watch(uri, memory) {
                Ok(()) => return Ok(()),
                Err(NotWatched::TooMany) => return Err(Failure::Crowded),
                Err(NotWatched::NoMemory) => self.lock().forget_one()?,
            }
        }
    }

    /// Returns the state of a session; `None` if this instance has none.
    pub(crate) fn find(&self, key: &Key) -> Option<Arc<SessionState>> {
        self.lock().live.get(key).cloned()
    }

    pub(crate) fn has_ended(&self, key: &Key) -> bool {
        self.lock().ended.contains(key)
    }

    /// Ends a session: stops what runs in it here, and answers to it no more.
    pub(crate) fn end(&self, key: Key) {
        let mut table = self.lock();
        let live = table.live.remove(&key);
        table.order.retain(|other| *other != key);
        if table.ended.insert(key) {
            table.ended_order.push_back(key);
        }
        if table.ended.len() > MOST_ENDED
            && let Some(oldest) = table.ended_order.pop_front()
        {
            table.ended.remove(&oldest);
        }
        drop(table);
        if let Some(live) = live {
            live.end();
        }
    }

    fn lock(&self) -> MutexGuard<'_, KnownSessions> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownSessions {
    /// Forgets the oldest session that is not in use.
    fn forget_one(&mut self) -> Result<(), Failure> {
        for _ in 0..self.order.len() {
            let Some(key) = self.order.pop_front() else {
                break;
            };
            match self.live.get(&key) {
                Some(live) if Arc::strong_count(live) > 1 => self.order.push_back(key),
                _ => {
                    self.live.remove(&key);
                    return Ok(());
                }
            }
        }
        Err(Failure::Crowded)
    }
}

/// Sessions that may have something going on at once: as many as the HTTP server has
/// connections.
const MOST_SESSIONS: usize = 4096;

/// Ended sessions that are remembered, in a few megabytes. One beyond them that
/// comes back is served again until its id expires.
const MOST_ENDED: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        u128::try_from(number).unwrap().to_be_bytes()
    }

    #[test]
    fn an_idle_session_makes_room_and_a_busy_one_does_not() {
        let desk = SessionTable::new();
        let busy: Vec<_> = (0..MOST_SESSIONS - 1)
            .map(|number| desk.live(key(number)).unwrap())
            .collect();
        let idle = key(MOST_SESSIONS);
        drop(desk.live(idle).unwrap());
        let held = desk.live(key(MOST_SESSIONS + 1)).unwrap();
        assert!(desk.find(&idle).is_none());
        assert!(desk.live(key(MOST_SESSIONS + 2)).is_err());
        drop((busy, held));
        assert!(desk.live(key(MOST_SESSIONS + 2)).is_ok());
    }

    #[test]
    fn the_memory_of_ended_sessions_is_bounded() {
        let desk = SessionTable::new();
        for number in 0..=MOST_ENDED {
            desk.end(key(number));
        }
        assert!(!desk.has_ended(&key(0)));
        assert!(desk.has_ended(&key(1)));
        assert!(desk.has_ended(&key(MOST_ENDED)));
    }
}
