//! State of a server that all its requests share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sterna_flow::{Engine, Limits};
use sterna_http::auth::Gate;
use sterna_http::clock::Clock;
use sterna_http::{Admission, Shutdown, catch_panic, with_deadline};
use sterna_protocol::implementation::Implementation;
use sterna_protocol::meta::{RequestMeta, ResultMeta};
use sterna_runner::KeyReloader;
use sterna_seal::{Budget, Lifetimes, Realm, SharedKeyring, UnixMillis};

use crate::backend::{Backed, ViewRequest};
use crate::catalog::{Catalog, Extensions};
use crate::environment::Environment;
use crate::failure::{Failure, RequestError};
use crate::flow_ids::FlowIds;
use crate::lists::{CachedReplies, Profile};
use crate::middleware::Middlewares;
use crate::session_table::SessionTable;
use crate::task_mode::TaskMode;
use crate::tasks::Tasks;
use crate::telemetry::McpMetrics;

/// A server as one request sees it: it does not change while that is served.
/// A server that changes has one of them after the other (see
/// [`CurrentCore`](crate::current::CurrentCore)), which share all but what they offer.
#[derive(Clone)]
pub(crate) struct Core {
    pub(crate) info: Implementation,
    /// The member by which a result says who the server is, and the end of it.
    pub(crate) signature: Bytes,
    pub(crate) profile: Arc<Profile>,
    pub(crate) offers: Arc<Catalog>,
    /// Backend that serves the offers; `None` for those of the catalog itself.
    pub(crate) backend: Option<Backed>,
    pub(crate) extensions: Arc<Extensions>,
    /// Replies about the offers, written once.
    pub(crate) cached: Arc<CachedReplies>,
    /// `true` if sessions of the older revisions are served.
    pub(crate) serves_sessions: bool,
    pub(crate) session_table: Arc<SessionTable>,
    pub(crate) keys: Arc<SharedKeyring>,
    pub(crate) key_reloader: Arc<KeyReloader>,
    /// Dates everything that is sealed, opened or begun.
    pub(crate) clock: Clock,
    pub(crate) flow_ids: FlowIds,
    pub(crate) realm: Realm,
    pub(crate) lifetimes: Lifetimes,
    /// Time for which the id of a session is good.
    pub(crate) session_lifetime: Duration,
    pub(crate) budget: Budget,
    pub(crate) engine: Arc<Engine>,
    pub(crate) limits: Limits,
    pub(crate) max_rounds: u32,
    /// The version of the handlers' state.
    pub(crate) version: u32,
    /// `true` if the tasks of SEP-2322 are served, too.
    pub(crate) sep2322_tasks: bool,
    /// `true` if every retry is entered in the ledger.
    pub(crate) remembers_rounds: bool,
    /// Tasks of the server; `None` without a store.
    pub(crate) tasks: Option<Arc<Tasks>>,
    /// Id of the build, so that a flow knows if another build began it.
    pub(crate) build: [u8; 8],
    pub(crate) overloaded: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    pub(crate) mistakes: Arc<MistakesShown>,
    pub(crate) environment: Arc<Environment>,
    pub(crate) gate: Gate,
    pub(crate) middleware: Middlewares,
    pub(crate) metrics: Arc<McpMetrics>,
}

impl Core {
    /// Returns the time, for tokens and flows.
    pub(crate) fn now(&self) -> UnixMillis {
        self.clock.now().into()
    }

    /// `_meta` of a result (BASE-S15).
    pub(crate) fn result_meta(&self) -> ResultMeta {
        ResultMeta::of(self.info.clone())
    }

    pub(crate) fn has_resources(&self) -> bool {
        self.offers.has_resources()
    }

    /// The tools that may run as tasks.
    pub(crate) fn task_tools(&self) -> impl Iterator<Item = &str> {
        let tools = self.offers.tools.iter();
        tools
            .filter(|tool| tool.task.mode != TaskMode::Never)
            .map(|tool| tool.wire.name.as_str())
    }

    /// Lifetime that the tool `name` sets for its tasks.
    pub(crate) fn task_ttl(&self, name: &str) -> Option<Duration> {
        self.offers.tools.get(name)?.task.ttl
    }

    /// Returns `true` if calls can become tasks.
    pub(crate) fn runs_tasks(&self) -> bool {
        self.tasks.is_some() && self.offers.may_run_tasks()
    }

    /// Returns `true` if an argument has completions (COMP-S1).
    pub(crate) fn completes(&self) -> bool {
        self.offers.completes()
    }

    /// Returns `true` if a flow may go on here, rather than on another instance.
    pub(crate) fn may_stay(&self, shutdown: &Shutdown) -> bool {
        let overloaded = self.overloaded.as_ref().is_some_and(|is| is());
        !overloaded && !shutdown.has_begun()
    }
}

impl Core {
    /// Returns the core that serves a request of one sender: with what the backend
    /// offers to it. A server without a backend has one core for all.
    pub(crate) async fn in_view(
        self: Arc<Self>,
        method: &'static str,
        admission: &Admission,
        meta: &RequestMeta,
        deadline: Instant,
    ) -> Result<Arc<Self>, Failure> {
        let Some(Backed { backend, .. }) = &self.backend else {
            return Ok(self);
        };
        let sender = ViewRequest::new(method, admission.caller().clone(), meta);
        let finding = catch_panic(Arc::clone(backend).view(sender.clone()));
        let found = with_deadline(deadline, finding).await;
        let view = match found.map_err(|_| Failure::TimedOut)? {
            Ok(found) => found.map_err(Failure::Handler)?,
            Err(_) => {
                tracing::error!(target: "sterna::server", "MR0100: the backend panicked");
                return Err(Failure::Internal);
            }
        };
        let compiled = view.compiled(&self.profile, &self.info, &self.extensions);
        let backend = Backed {
            backend: Arc::clone(backend),
            sender: Some(sender),
        };
        Ok(Arc::new(Self {
            offers: compiled.offers,
            cached: compiled.cached,
            backend: Some(backend),
            ..Self::clone(&self)
        }))
    }

    /// The failure of a call that a mistake of the author ends. The log has been
    /// told; a client sees the text in development alone.
    pub(crate) fn mistaken(&self, mistake: impl fmt::Display) -> Failure {
        if self.mistakes.to_clients() {
            Failure::Handler(RequestError::internal(mistake.to_string()))
        } else {
            Failure::Internal
        }
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core")
            .field("info", &self.info.name)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

/// Setting that shows mistakes of the author to clients.
#[derive(Debug)]
pub(crate) struct MistakesShown(AtomicU8);

impl MistakesShown {
    /// Shown to no client until one is on this machine.
    pub(crate) fn to_none() -> Self {
        Self(AtomicU8::new(0))
    }

    pub(crate) fn to_all() -> Self {
        Self(AtomicU8::new(Self::NEAR))
    }

    /// The server is reached from this machine.
    pub(crate) fn is_near(&self) {
        self.0.fetch_max(Self::NEAR, Ordering::Relaxed);
    }

    /// The server may be reached from elsewhere too, so no client sees them
    /// from here on.
    pub(crate) fn is_far(&self) {
        self.0.fetch_max(Self::FAR, Ordering::Relaxed);
    }

    fn to_clients(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::NEAR
    }

    const NEAR: u8 = 1;
    const FAR: u8 = 2;
}
