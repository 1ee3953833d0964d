//! Sessions that were ended at other instances.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sterna_http::{Rate, TokenBucket};

use super::Key;

/// Times at which the store was last asked about each session, and the number
/// of ends that may still be recorded.
#[derive(Debug)]
pub(crate) struct Ends {
    asked: Mutex<Asked>,
    recording: TokenBucket,
}

#[derive(Debug, Default)]
struct Asked {
    at: HashMap<Key, Instant>,
    /// In the order in which they were first asked about.
    order: VecDeque<Key>,
}

impl Ends {
    pub(super) fn new() -> Self {
        Self {
            asked: Mutex::default(),
            recording: TokenBucket::new(Rate::new(1024, Duration::from_millis(100))),
        }
    }

    /// Returns `true` if the store is to be asked about a session now. It then counts as
    /// asked, so that of many requests one asks.
    pub(crate) fn is_due(&self, key: Key, now: Instant) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        match asked.at.get_mut(&key) {
            Some(at) if now.saturating_duration_since(*at) < FRESH => return false,
            Some(at) => *at = now,
            None => {
                if asked.at.len() >= MOST_ASKED
                    && let Some(oldest) = asked.order.pop_front()
                {
                    asked.at.remove(&oldest);
                }
                asked.at.insert(key, now);
                asked.order.push_back(key);
            }
        }
        true
    }

    /// Takes one of the records that may be written at `now`; `false` if there
    /// were too many.
    pub(crate) fn may_record(&self, now: Instant) -> bool {
        self.recording.take(now)
    }
}

/// Time for which an instance goes on with a session that was ended elsewhere.
const FRESH: Duration = Duration::from_secs(5);

/// Sessions whose last look is remembered, in a few megabytes.
const MOST_ASKED: usize = 65_536;

#[cfg(test)]
mod tests {
    use sterna_http::clock;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_store_is_asked_once_in_a_while_and_memory_is_bounded() {
        let ends = Ends::new();
        let key = |number: usize| u128::try_from(number).unwrap().to_be_bytes();
        let start = clock::now();
        assert!(ends.is_due(key(0), start));
        assert!(!ends.is_due(key(0), start + FRESH - Duration::from_millis(1)));
        assert!(ends.is_due(key(0), start + FRESH));
        assert!(!ends.is_due(key(0), start + FRESH));
        for number in 1..=MOST_ASKED {
            assert!(ends.is_due(key(number), start));
        }
        let asked = ends.asked.lock().unwrap();
        assert_eq!(
            (asked.at.len(), asked.order.len()),
            (MOST_ASKED, MOST_ASKED)
        );
        assert!(!asked.at.contains_key(&key(0)));
    }
}
