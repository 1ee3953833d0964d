//! An issuer's keys, kept between requests and fetched again when they must be.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::jwks::KeySet;
use super::source::{JwksSource, Loading, MAX_DOCUMENT, SourceError};
use crate::clock;
use crate::guard::with_deadline;
use crate::guard::{Panicked, catch_panic};

/// Lifetimes of fetched keys and limits on fetching them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyCacheConfig {
    /// Age at which a request has the keys fetched again. Ten
    /// minutes. The keys at hand are used meanwhile, up to twice this age: a key
    /// withdrawn by its issuer is believed no longer than that, as long as the
    /// issuer answers.
    pub fresh_for: Duration,
    /// Age that keys may reach while fetching fails, or brings no key that can be
    /// used. A day: an issuer's outage does not become ours, and a forgotten
    /// server does not trust for ever.
    pub stale_for: Duration,
    /// The least time between two fetches. Ten seconds: tokens with invented
    /// key names cannot make us call the issuer more often.
    pub pause: Duration,
    /// Time that one fetch may take. Five seconds. A request waits for it if
    /// there is no key that it could be judged by, and for a second at most if
    /// there is one that is older than twice `fresh_for`.
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
    state: Mutex<CacheState>,
    /// The fetch under way. No request owns it: when the request that drives
    /// it is dropped, the next one drives it on, so a peer that hangs up cannot
    /// use up the fetches that others wait for.
    fetch: tokio::sync::Mutex<Option<Loading>>,
}

#[derive(Default)]
struct CacheState {
    keys: Option<Arc<KeySet>>,
    loaded_at: Option<Instant>,
    started_at: Option<Instant>,
    /// When a fetch last failed or was slow, if none has succeeded since.
    failed_at: Option<Instant>,
    under_way: bool,
    finished: u64,
}

/// The contents of the cache at one moment.
#[derive(Clone)]
pub(super) struct CachedKeys {
    /// Keys that may be used, though perhaps not the newest.
    pub(super) keys: Option<Arc<KeySet>>,
    pub(super) age: Age,
    /// `true` if another fetch is allowed now.
    pub(super) may_refresh: bool,
    finished: u64,
}

/// Age of cached keys, with the action that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Use them.
    Fresh,
    /// Use them, and fetch new ones meanwhile.
    Stale,
    /// Fetch new ones, and use these if that fails.
    Old,
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

    pub(super) fn cached(&self, now: Instant) -> CachedKeys {
        let state = self.state();
        let since = |at: Option<Instant>| at.map(|at| now.saturating_duration_since(at));
        let fresh_for = self.config.fresh_for;
        let is_below = |age: Option<Duration>, limit| age.is_some_and(|age| age < limit);
        let age = since(state.loaded_at);
        let pause_is_over = since(state.started_at).is_none_or(|age| age >= self.config.pause);
        CachedKeys {
            keys: state
                .keys
                .clone()
                .filter(|_| is_below(age, self.config.stale_for)),
            age: if is_below(age, fresh_for) {
                Age::Fresh
            } else if is_below(age, fresh_for.saturating_mul(2))
                // It was tried: no request need wait to learn that the issuer is out of order.
                || is_below(since(state.failed_at), fresh_for)
            {
                Age::Stale
            } else {
                Age::Old
            },
            may_refresh: state.under_way || pause_is_over,
            finished: state.finished,
        }
    }

    /// Fetches the keys, together with all other requests that wait for them,
    /// and returns the keys afterwards. On failure the old keys stay.
    pub(super) async fn refresh(&self, seen: &CachedKeys) -> CachedKeys {
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
        self.cached(clock::now())
    }

    /// Claims the next fetch for the caller, which must drive it with
    /// [`refresh`](Self::refresh); `false` if it is too early for one, or one is
    /// under way.
    pub(super) fn claim_fetch(&self, now: Instant) -> bool {
        let mut state = self.state();
        let started = state.started_at;
        let is_early =
            started.is_some_and(|at| now.saturating_duration_since(at) < self.config.pause);
        if is_early || state.under_way {
            return false;
        }
        state.started_at = Some(now);
        state.under_way = true;
        true
    }

    /// As [`refresh`](Self::refresh), for no longer than a moment: there are
    /// keys to go on with. The fetch must be driven on by another task.
    pub(super) async fn refresh_soon(&self, seen: &CachedKeys) -> CachedKeys {
        let refreshing = self.refresh(seen);
        if let Ok(cached) = with_deadline(clock::now() + MOMENT, refreshing).await {
            return cached;
        }
        let now = clock::now();
        self.state().failed_at = Some(now);
        self.cached(now)
    }

    /// Returns whether the fetch under way was not polled for so long that its answer
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
        let loading = tokio::time::timeout(self.config.timeout, catch_panic(self.source.load()));
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
            let keys = KeySet::parse(&document).map_err(SourceError::new)?;
            if keys.is_empty() {
                // A mistake of the issuer, not the wish to have every token refused.
                return Err(SourceError::new("the document has no key that can be used"));
            }
            Ok(keys)
        });
        let mut state = self.state();
        state.under_way = false;
        state.finished += 1;
        match keys {
            Ok(keys) => {
                state.keys = Some(Arc::new(keys));
                state.loaded_at = Some(now);
                state.failed_at = None;
            }
            Err(error) => {
                state.failed_at = Some(now);
                let age = state.loaded_at.map(|at| now.saturating_duration_since(at));
                tracing::warn!(
                    target: "sterna::auth",
                    error = &error as &dyn std::error::Error,
                    seconds = age.map(|age| age.as_secs()),
                    "MR0152: keys of the issuer could not be fetched, those of `seconds` ago are used"
                );
            }
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time that a request waits for new keys if it could be judged by old ones.
const MOMENT: Duration = Duration::from_secs(1);
