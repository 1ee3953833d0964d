use std::collections::HashMap;

use sterna_server::auth::Principal;
use tokio::time::Instant;

use super::session::SessionKey;

/// Values by caller and capabilities, with a limit for each caller. A client may
/// declare other capabilities with every request, so without one a caller could
/// open any number of sessions.
#[derive(Debug)]
pub(crate) struct CallerCache<V> {
    callers: HashMap<Option<Principal>, HashMap<String, Used<V>>>,
}

#[derive(Debug)]
struct Used<V> {
    value: V,
    at: Instant,
}

impl<V> Default for CallerCache<V> {
    fn default() -> Self {
        Self {
            callers: HashMap::new(),
        }
    }
}

impl<V: Clone> CallerCache<V> {
    /// Returns the value of `key`, and marks it as used.
    pub(crate) fn get(&mut self, key: &SessionKey, now: Instant) -> Option<V> {
        let values = self.callers.get_mut(&key.principal)?;
        let used = values.get_mut(&key.capabilities)?;
        used.at = now;
        Some(used.value.clone())
    }

    /// Keeps `value` for `key`. The caller's value that was not used for the
    /// longest time makes room.
    pub(crate) fn insert(&mut self, key: &SessionKey, value: V, now: Instant) {
        let values = self.callers.entry(key.principal.clone()).or_default();
        if values.len() >= PER_CALLER && !values.contains_key(&key.capabilities) {
            let oldest = values.iter().min_by_key(|(_, used)| used.at);
            if let Some(oldest) = oldest.map(|(capabilities, _)| capabilities.clone()) {
                values.remove(&oldest);
            }
        }
        values.insert(key.capabilities.clone(), Used { value, at: now });
    }

    pub(crate) fn remove(&mut self, key: &SessionKey) {
        if let Some(values) = self.callers.get_mut(&key.principal) {
            values.remove(&key.capabilities);
            if values.is_empty() {
                self.callers.remove(&key.principal);
            }
        }
    }

    /// Removes values that were not used since `before`.
    pub(crate) fn remove_idle(&mut self, before: Instant) {
        self.callers.retain(|_, values| {
            values.retain(|_, used| used.at >= before);
            !values.is_empty()
        });
    }

    /// All values, with their keys.
    pub(crate) fn entries(&self) -> Vec<(SessionKey, V)> {
        let of_caller = |(principal, values): (&Option<Principal>, &HashMap<String, Used<V>>)| {
            let entry = |(capabilities, used): (&String, &Used<V>)| {
                let key = SessionKey {
                    principal: principal.clone(),
                    capabilities: capabilities.clone(),
                    token: None,
                };
                (key, used.value.clone())
            };
            values.iter().map(entry).collect::<Vec<_>>()
        };
        self.callers.iter().flat_map(of_caller).collect()
    }
}

/// Sets of capabilities of one caller. A person has a few clients.
const PER_CALLER: usize = 16;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sterna_protocol::capabilities::ClientCapabilities;

    use super::*;

    fn key(principal: &str, capabilities: usize) -> SessionKey {
        let principal = Principal::named("test", principal);
        let mut key = SessionKey::new(Some(principal), &ClientCapabilities::default());
        key.capabilities = capabilities.to_string();
        key
    }

    #[test]
    fn a_caller_pushes_out_its_own_oldest_value_and_no_other() {
        let mut cache = CallerCache::default();
        let begin = Instant::now();
        let at = |second| begin + Duration::from_secs(second);
        cache.insert(&key("bob", 0), "bob", begin);
        for number in 0..PER_CALLER {
            cache.insert(&key("ann", number), "ann", at(1));
        }
        assert_eq!(cache.get(&key("ann", 0), at(2)), Some("ann"));
        for number in 100..199 {
            cache.insert(&key("ann", number), "ann", at(3));
            assert_eq!(cache.get(&key("ann", 0), at(4)), Some("ann"));
        }
        assert_eq!(cache.entries().len(), PER_CALLER + 1);
        assert_eq!(cache.get(&key("bob", 0), at(4)), Some("bob"));
        assert_eq!(cache.get(&key("ann", 1), at(4)), None);
    }

    #[test]
    fn idle_values_leave_no_caller_behind() {
        let mut cache = CallerCache::default();
        let begin = Instant::now();
        cache.insert(&key("ann", 0), 1, begin);
        cache.insert(&key("bob", 0), 2, begin + Duration::from_secs(2));
        cache.remove_idle(begin + Duration::from_secs(1));
        assert_eq!(cache.callers.len(), 1);
        cache.remove(&key("bob", 0));
        assert!(cache.callers.is_empty());
    }
}
