//! Settings and backends that all runs of one handler share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::backends::{Blobs, Ledger};
use crate::fingerprint::Digest;
use crate::journal::{Journal, Limits};
use crate::key::Key;

/// The settings and plug points that every run of a handler shares.
///
/// ```
/// # fn sha256(_: &[&[u8]]) -> [u8; 32] { [0; 32] }
/// use sterna_flow::{Engine, Settings};
///
/// let mut settings = Settings::default();
/// settings.max_rounds = 4;
/// let engine = Engine::new(sha256).settings(settings);
/// ```
#[derive(Clone)]
pub struct Engine {
    pub(crate) settings: Settings,
    pub(crate) digest: Arc<dyn Digest>,
    pub(crate) ledger: Option<Arc<dyn Ledger>>,
    pub(crate) blobs: Option<Arc<dyn Blobs>>,
    /// The build that runs, as claims of effects name it.
    pub(crate) build: [u8; 8],
    migrate: Option<Arc<Migrate>>,
}

type Migrate = dyn Fn(Journal) -> Option<Journal> + Send + Sync;

impl Engine {
    /// An engine with default settings and no plug points but the hash.
    pub fn new(digest: impl Digest + 'static) -> Self {
        Self {
            settings: Settings::default(),
            digest: Arc::new(digest),
            ledger: None,
            blobs: None,
            build: [0; 8],
            migrate: None,
        }
    }

    /// Replaces the settings.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        let polls = &mut self.settings.polls_per_turn;
        *polls = (*polls).max(FEWEST_POLLS);
        self
    }

    /// Names the build that runs. An effect that another build has begun may
    /// have depended on a question that this one no longer asks.
    #[must_use]
    pub fn build(mut self, build: [u8; 8]) -> Self {
        self.build = build;
        self
    }

    /// Lets handlers use [`FlowCx::once`](crate::FlowCx::once).
    #[must_use]
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Lets handlers use [`Step::by_ref`](crate::Step::by_ref).
    #[must_use]
    pub fn blobs(mut self, blobs: Arc<dyn Blobs>) -> Self {
        self.blobs = Some(blobs);
        self
    }

    /// Says how a journal of an older [state version](Settings::version) becomes
    /// one of the present version; `None` if it cannot.
    #[must_use]
    pub fn migrate(
        mut self,
        migrate: impl Fn(Journal) -> Option<Journal> + Send + Sync + 'static,
    ) -> Self {
        self.migrate = Some(Arc::new(migrate));
        self
    }

    /// A journal that this build can replay, or the version it cannot.
    pub(crate) fn accept(&self, mut journal: Journal) -> Result<Journal, u32> {
        let found = journal.version();
        if found != self.settings.version && !journal.entries().is_empty() {
            let migrate = self.migrate.as_ref().ok_or(found)?;
            journal = migrate(journal).ok_or(found)?;
        }
        journal.set_version(self.settings.version);
        Ok(journal)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("settings", &self.settings)
            .field("ledger", &self.ledger.is_some())
            .field("blobs", &self.blobs.is_some())
            .finish_non_exhaustive()
    }
}

/// The numbers of an [`Engine`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The version of the handler's state. Raise it when old journals must not
    /// be replayed by new code; see [`Engine::migrate`].
    pub version: u32,
    /// Number of times that a flow may go back to the client. Every client known
    /// today gives up after ten, so eight leaves room for two sheds.
    pub max_rounds: u32,
    /// Time that a suspension waits for an await that is not the engine's. Long
    /// enough for a local lookup, short enough not to be felt.
    pub grace: Duration,
    /// Longest sleep that may hold a request open in round trips. Below the 30
    /// seconds after which many proxies give up.
    pub max_inline_sleep: Duration,
    /// Limits on the size of a journal.
    pub limits: Limits,
    /// Number of polls of the handler before other tasks get their turn. A replay
    /// of a full journal fits into four such turns.
    ///
    /// Less than 2 counts as 2: the first poll of a turn goes to the handler, and
    /// only the second can move the flow on.
    pub polls_per_turn: u32,
    /// Called when the body of a step starts and ends. Default: `None`.
    pub observer: Option<Observer>,
}

impl Settings {
    pub(crate) fn observe(&self, key: &Key, seen: StepEvent) {
        if let Some(observer) = &self.observer {
            observer.see(key, seen);
        }
    }
}

/// One to poll the handler, one to move.
const FEWEST_POLLS: u32 = 2;

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: 0,
            max_rounds: 8,
            grace: Duration::from_millis(25),
            max_inline_sleep: Duration::from_secs(20),
            limits: Limits::default(),
            polls_per_turn: 256,
            observer: None,
        }
    }
}

/// Callback for the start and the end of every body of a step, effect or
/// `once` that really runs. Results from a journal are not reported. For tests
/// and for traces.
///
/// Called while the handler waits, so it must return at once.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use sterna_flow::{Observer, StepEvent, Settings};
///
/// let began = Arc::new(AtomicUsize::new(0));
/// let counted = Arc::clone(&began);
/// let mut settings = Settings::default();
/// settings.observer = Some(Observer::new(move |_key, seen| {
///     if seen == StepEvent::Began {
///         counted.fetch_add(1, Ordering::Relaxed);
///     }
/// }));
/// ```
#[derive(Clone)]
pub struct Observer(Arc<See>);

type See = dyn Fn(&Key, StepEvent) + Send + Sync;

impl Observer {
    /// Calls `see` with the key of the step that begins or ends.
    pub fn new(see: impl Fn(&Key, StepEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    pub(crate) fn see(&self, key: &Key, seen: StepEvent) {
        (self.0)(key, seen);
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer(..)")
    }
}

/// Event of a body, as an [`Observer`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StepEvent {
    /// It begins; once for every try.
    Began,
    /// It has a result. One that is cut off never gets there.
    Ended,
}
