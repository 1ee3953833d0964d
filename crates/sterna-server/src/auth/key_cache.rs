//! An issuer's keys, kept between requests and fetched again when they must be.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::jwks::KeySet;
use super::source::{JwksSource, Loading, MAX_DOCUMENT, SourceError};
use crate::edge::clock;
use crate::edge::guarded::{Panicked, guarded};

/// How long fetched keys are used and how often they are fetched.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyCacheConfig {
    /// How old keys may grow before a request fetches them again. Ten minutes:
    /// a key withdrawn by its issuer is believed no longer than that.
    pub fresh_for: Duration,
    /// How old keys may grow while fetching fails. A day: an issuer's outage
    /// does not become ours, and a forgotten server does not trust for ever.
    pub stale_for: Duration,
    /// The least time between two fetches. Ten seconds: tokens with invented
    /// key names cannot make us call the issuer more often.
    pub pause: Duration,
    /// How long one fetch may take. Five seconds: a request waits for it.
    pub timeout: Duration,
}

impl Default for KeyCacheConfig {
    fn default() -> Self {
        Self {
            fresh_for: Duration::from_secs(600),
            stale_for: Duration::from_secs(24 * 3600),
            pause: Duration::from_secs(10),
            timeout: Duration::from_secs(5),
        }
    }
}

pub(super) struct KeyCache {
    source: Box<dyn JwksSource>,
    config: KeyCacheConfig,
    state: Mutex<State>,
    /// The fetch under way. It belongs to nobody: when the request that drives
    /// it is dropped, the next one drives it on, so a peer that hangs up cannot
    /// use up the fetches that others wait for.
    fetch: tokio::sync::Mutex<Option<Loading>>,
}

#[derive(Default)]
struct State {
    keys: Option<Arc<KeySet>>,
    loaded_at: Option<Instant>,
    started_at: Option<Instant>,
    under_way: bool,
    finished: u64,
}

/// What the cache has to offer at a moment.
pub(super) struct Glance {
    /// Keys that may be used, though perhaps not the newest.
    pub(super) keys: Option<Arc<KeySet>>,
    /// Whether they are young enough to be used without asking again.
    pub(super) fresh: bool,
    /// Whether asking again is allowed now.
    pub(super) may_refresh: bool,
    finished: u64,
}

impl KeyCache {
    pub(super) fn new(source: impl JwksSource, config: KeyCacheConfig) -> Self {
        Self {
            source: Box::new(source),
            config,
            state: Mutex::default(),
            fetch: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn glance(&self, now: Instant) -> Glance {
        let state = self.state();
        let age = state.loaded_at.map(|at| now.saturating_duration_since(at));
        let usable = age.is_some_and(|age| age < self.config.stale_for);
        Glance {
            keys: state.keys.clone().filter(|_| usable),
            fresh: age.is_some_and(|age| age < self.config.fresh_for),
            may_refresh: state.under_way
                || state
                    .started_at
                    .is_none_or(|at| now.saturating_duration_since(at) >= self.config.pause),
            finished: state.finished,
        }
    }

    /// Fetches the keys, together with everybody else who waits for them, and
    /// says what there is afterwards. On failure the old keys stay.
    pub(super) async fn refresh(&self, seen: &Glance) -> Glance {
        let mut fetch = self.fetch.lock().await;
        if self.state().finished == seen.finished {
            if self.is_overdue(clock::now()) {
                *fetch = None;
            }
            let loading = fetch.get_or_insert_with(|| self.start());
            let result = loading.as_mut().await;
            *fetch = None;
            self.finish(result, clock::now());
        }
        drop(fetch);
        self.glance(clock::now())
    }

    /// Whether the fetch under way was left alone for so long that its answer
    /// is not worth waiting for.
    fn is_overdue(&self, now: Instant) -> bool {
        let started_at = self.state().started_at;
        started_at.is_some_and(|at| now.saturating_duration_since(at) >= self.config.timeout)
    }

    fn start(&self) -> Loading {
        let mut state = self.state();
        state.started_at = Some(clock::now());
        state.under_way = true;
        drop(state);
        let loading = tokio::time::timeout(self.config.timeout, guarded(self.source.load()));
        Box::pin(async move {
            match loading.await {
                Ok(Ok(result)) => result,
                Ok(Err(Panicked)) => Err(SourceError::new("the source panicked")),
                Err(elapsed) => Err(SourceError::new(elapsed)),
            }
        })
    }

    fn finish(&self, result: Result<bytes::Bytes, SourceError>, now: Instant) {
        let keys = result.and_then(|document| {
            if document.len() > MAX_DOCUMENT {
                return Err(SourceError::new("the document is too long"));
            }
            KeySet::parse(&document).map_err(SourceError::new)
        });
        let mut state = self.state();
        state.under_way = false;
        state.finished += 1;
        match keys {
            Ok(keys) => {
                state.keys = Some(Arc::new(keys));
                state.loaded_at = Some(now);
            }
            Err(error) => {
                tracing::warn!(
                    target: "sterna::auth",
                    error = &error as &dyn std::error::Error,
                    "keys of the issuer could not be fetched"
                );
            }
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
