//! The settings that the routes of an application share.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::StatusCode;
use http::request::Parts;
use ring::digest::{Context, SHA256};
use sterna_flow::{Engine, FlowId, Settings};
use sterna_runner::KeyReloader;
use sterna_seal::{Budget, Lifetimes, Principal, Realm, SharedKeyring};
use sterna_store::Store;

use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::operations::Operations;

/// Keys, store and callers of the pausing routes of an application.
///
/// Instances that share the keys, the audience and the store can go on with each
/// other's requests.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use axum::{Json, Router, routing::post};
/// use sterna_axum::{Cx, Problem, Resume, pausing};
/// use sterna_seal::{Keyring, Principal, SharedKeyring, ThreadEntropy};
///
/// async fn greet(cx: Cx<'_>) -> Result<Json<String>, Problem> {
///     let name: String = cx.ask("name", "What is your name?").await?;
///     Ok(Json(format!("Hello, {name}!")))
/// }
///
/// let keys = Arc::new(SharedKeyring::new(Keyring::generate(&mut ThreadEntropy)?));
/// let resume = Resume::new(keys, "https://shop.example").caller(|parts| {
///     let user = parts.headers.get("x-user")?.to_str().ok()?;
///     Some(Principal::named("shop", user))
/// });
/// let greet = pausing(greet).asks::<String>("name").build(&resume)?;
/// let app: Router = Router::new().route("/greet", post(greet));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Resume<S = ()> {
    pub(crate) state: S,
    pub(crate) keys: Arc<SharedKeyring>,
    pub(crate) audience: Arc<str>,
    pub(crate) realm: Realm,
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) caller: Option<Arc<FindCaller>>,
    /// Operations that requests to its routes may become.
    pub(crate) operations: Option<Operations>,
    pub(crate) config: Arc<Config>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) build: [u8; 8],
    pub(crate) metrics: Arc<Metrics>,
    /// Made with the first route, when all settings are known.
    pub(crate) key_reloader: Arc<OnceLock<Arc<KeyReloader>>>,
    /// Draws the ids of flows in place of the system's randomness.
    pub(crate) flow_ids: Option<Arc<DrawFlowId>>,
}

/// Draws the id of a flow that begins.
pub(crate) type DrawFlowId = dyn Fn() -> FlowId + Send + Sync;

/// Finds the caller of a request in its head; `None` if there is none.
pub(crate) type FindCaller = dyn Fn(&Parts) -> Option<Principal> + Send + Sync;

impl Resume {
    /// Routes whose states are sealed with `keys`. Keys that have a source are read
    /// again while the routes serve ([`Config::reload_keys`]).
    ///
    /// `audience` names the application, usually by its public URL: a state of
    /// another application is refused, also if it has the same keys.
    pub fn new(keys: Arc<SharedKeyring>, audience: &str) -> Self {
        let config = Config::default();
        Self {
            state: (),
            keys,
            audience: audience.into(),
            realm: Realm::new(audience, None),
            store: None,
            caller: None,
            operations: None,
            engine: engine(&config),
            build: build_id(&config),
            config: Arc::new(config),
            metrics: Arc::default(),
            key_reloader: Arc::default(),
            flow_ids: None,
        }
    }
}

impl<S> Resume<S> {
    /// Sets the state that handlers take by axum's `State`.
    ///
    /// It is given here, so that a route is whole without the router that it is
    /// put into.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(self, state: T) -> Resume<T> {
        Resume {
            state,
            keys: self.keys,
            audience: self.audience,
            realm: self.realm,
            store: self.store,
            caller: self.caller,
            operations: self.operations,
            config: self.config,
            engine: self.engine,
            build: self.build,
            metrics: self.metrics,
            key_reloader: self.key_reloader,
            flow_ids: self.flow_ids,
        }
    }

    /// Says who the caller of a request is, from what the application's own
    /// authentication has left in its head. A request for which `find` returns
    /// `None` gets a 401.
    ///
    /// A state is good for the caller it was made for. Nothing that a caller can
    /// choose freely may name it.
    #[must_use]
    pub fn caller(
        mut self,
        find: impl Fn(&Parts) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.caller = Some(Arc::new(find));
        self
    }

    /// Keeps rounds, effects and large states in `store`.
    ///
    /// With a store a round is answered once: a response that was lost is sent
    /// again, a second answer to the same question is refused, `cx.once` runs at
    /// most once, and `Idempotency-Key` is heard. Instances must share it.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Lets requests become `operations`, where their routes say so with
    /// [`Pausing::operation`](crate::Pausing::operation).
    #[must_use]
    pub fn operations(mut self, operations: &Operations) -> Self {
        self.operations = Some(operations.clone());
        self
    }

    /// Returns the store, if there is one.
    #[must_use]
    pub fn store_in_use(&self) -> Option<&Arc<dyn Store>> {
        self.store.as_ref()
    }

    /// Replaces the numbers.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.engine = engine(&config);
        self.build = build_id(&config);
        self.key_reloader = Arc::default();
        self.config = Arc::new(config);
        self
    }

    /// Has `draw` name each flow, so that a test is the same every time.
    ///
    /// Two flows with one id share their effects, and a caller who can foresee an
    /// id can foresee the values of `cx.random`: for tests alone.
    #[must_use]
    pub fn dangerous_flow_ids(mut self, draw: impl Fn() -> FlowId + Send + Sync + 'static) -> Self {
        self.flow_ids = Some(Arc::new(draw));
        self
    }

    /// Returns what reads the keys again.
    pub(crate) fn key_reloader(&self) -> &Arc<KeyReloader> {
        self.key_reloader.get_or_init(|| {
            let now = self.config.clock.now();
            KeyReloader::new(Arc::clone(&self.keys), self.config.reload_keys, now)
        })
    }

    /// Returns the counters of all routes.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }
}

impl<S> fmt::Debug for Resume<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resume")
            .field("audience", &self.audience)
            .field("store", &self.store.is_some())
            .field("caller", &self.caller.is_some())
            .finish_non_exhaustive()
    }
}

/// Numbers of the pausing routes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Status of a response with questions. 428, because it says that the
    /// request must be sent again with something more, and no client or proxy
    /// repeats it by itself. Clients decide by the `type` of the problem.
    pub paused_status: StatusCode,
    /// Lifetimes of a state and of its flow: an hour and a day.
    pub lifetimes: Lifetimes,
    /// Largest sizes of a state.
    pub budget: Budget,
    /// Largest body of a request: 2 MiB, as axum's own.
    pub max_body: usize,
    /// Largest body of a response that is kept in the ledger: 1 MiB. A route
    /// that answers with more fails if it has a store.
    pub max_response: usize,
    /// Number of answers to a [secret](crate::Pausing::asks_secret) question
    /// that are looked at in one flow. Five: a person mistypes a code twice, a
    /// program that guesses six digits finds one in 200,000.
    pub attempts: u32,
    /// Time for which an equal request waits for the response of the first one,
    /// before it is told to come again (409). A second: most requests are
    /// faster.
    pub patience: Duration,
    /// Age at which keys that have a source (a file, a variable, a secret store)
    /// are read again, beside the request that finds them old: 10 seconds, so
    /// that a rotation reaches every instance soon. Zero never reads them again.
    pub reload_keys: Duration,
    /// Version of the application, to tell its builds apart.
    pub version: String,
    /// Settings of flows.
    pub flow: Settings,
    /// Clock that states are dated by.
    pub clock: Clock,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            paused_status: StatusCode::PRECONDITION_REQUIRED,
            lifetimes: Lifetimes::default(),
            budget: Budget::default(),
            max_body: 2 << 20,
            max_response: 1 << 20,
            attempts: 5,
            patience: Duration::from_secs(1),
            reload_keys: Duration::from_secs(10),
            version: String::new(),
            flow: Settings::default(),
            clock: Clock::default(),
        }
    }
}

fn engine(config: &Config) -> Arc<Engine> {
    let engine = Engine::new(sha256).settings(config.flow.clone());
    Arc::new(engine.build(build_id(config)))
}

fn build_id(config: &Config) -> [u8; 8] {
    let mut id = [0; 8];
    id.copy_from_slice(&sha256(&[config.version.as_bytes()])[..8]);
    id
}

/// The hash that flows take their fingerprints from.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(part);
    }
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

/// Returns the digest of `parts` with their lengths, for the purpose `domain`.
pub(crate) fn digest_of(domain: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(domain.as_bytes());
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}
