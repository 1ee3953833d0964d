//! Results that may be used again, for as long as the server said.
//!
//! A cache belongs to one client, and so to one authorization: what is private
//! stays private (CACHE-C7). Nothing runs in the background (CACHE-C5).

mod tools;

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sterna_protocol::caching::Cacheable;
use tokio::time::Instant;

pub(crate) use self::tools::{KnownTool, ToolCache};

use crate::notifications::Change;

/// Key of a cached result: the method, and the parameters that matter
/// (CACHE-C1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Prompts(Option<String>),
    Read(String),
    Resources(Option<String>),
    Templates(Option<String>),
    Tools(Option<String>),
}

/// Fresh results.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<HashMap<Key, Entry>>);

#[derive(Debug)]
struct Entry {
    result: Arc<dyn Any + Send + Sync>,
    until: Instant,
}

impl Cache {
    /// The result for `key`, if there is one and it is fresh.
    pub(crate) fn get<T: Clone + 'static>(&self, key: &Key) -> Option<T> {
        let mut entries = self.lock();
        let entry = entries.get(key)?;
        if entry.until <= Instant::now() {
            entries.remove(key);
            return None;
        }
        entry.result.downcast_ref::<T>().cloned()
    }

    /// Keeps `result` for as long as it says itself.
    pub(crate) fn put<T>(&self, key: Key, result: &T)
    where
        T: Cacheable + Clone + Send + Sync + 'static,
    {
        // CACHE-C3: nothing said, or zero, is stale at once.
        let ttl = Duration::from_millis(result.caching().ttl_ms).min(LONGEST);
        let mut entries = self.lock();
        if ttl.is_zero() {
            entries.remove(&key);
            return;
        }
        let now = Instant::now();
        if entries.len() >= MOST_ENTRIES {
            entries.retain(|_, entry| entry.until > now);
        }
        if entries.len() < MOST_ENTRIES {
            let entry = Entry {
                result: Arc::new(result.clone()),
                until: now + ttl,
            };
            entries.insert(key, entry);
        }
    }

    /// CACHE-C11: forgets the entries that a change concerns.
    pub(crate) fn invalidate(&self, change: &Change) {
        self.lock().retain(|key, _| match (change, key) {
            (Change::Prompts, Key::Prompts(_))
            | (Change::Resources, Key::Resources(_) | Key::Templates(_))
            | (Change::Tools, Key::Tools(_))
            | (Change::Reopened, _) => false,
            // What changed may lie below what was read.
            (Change::Resource(uri), Key::Read(read)) => {
                !(uri.starts_with(read.as_str()) || read.starts_with(uri.as_str()))
            }
            _ => true,
        });
    }

    /// CACHE-C10: forgets all pages of a list of which one is gone.
    pub(crate) fn forget_pages(&self, page: &Key) {
        let list = std::mem::discriminant(page);
        self.lock()
            .retain(|key, _| std::mem::discriminant(key) != list);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server cannot fill us with small results.
const MOST_ENTRIES: usize = 1024;
/// Nothing is believed for longer than a day.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
