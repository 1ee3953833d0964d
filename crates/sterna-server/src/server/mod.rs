//! Putting a server together and starting it.

mod build;
mod config;
mod edit;
mod error;
mod log;
mod reload;
mod service;

use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::sync::Arc;

use http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use sterna_protocol::implementation::{Icon, Implementation};
use sterna_seal::{FlowId, KeyFile, KeySource, Keyring, SharedKeyring};
use sterna_store::Store;

pub use config::{ServerConfig, ShowMistakes};
pub use edit::Edit;
pub use error::{BuildError, StartError};
pub use service::Service;
use sterna_http::auth::{Caller, Gate};
use sterna_http::clock::Clock;
use sterna_http::{HttpConfig, Probes};

use crate::backend::Backend;
use crate::catalog::{CatalogEntry, Extension, FromUri, Prompt, Resource, ResourceTemplate, Tool};
use crate::environment::States;
use crate::flow_ids::FlowIds;
use crate::handler::{Handler, IntoPromptResult, IntoResourceResult, IntoToolResult, Params};
use crate::middleware::Middleware;

/// A server that is being put together.
///
/// # Examples
///
/// ```no_run
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use sterna_server::{Cx, Server, ToolError};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Deploy {
///     service: String,
/// }
///
/// async fn deploy(cx: Cx<'_>, args: Deploy) -> Result<String, ToolError> {
///     let reason: String = cx.ask("reason", format!("Why deploy {}?", args.service)).await?;
///     Ok(format!("{} deployed: {reason}", args.service))
/// }
///
/// # async fn run() -> Result<(), sterna_server::StartError> {
/// Server::new("deployer", env!("CARGO_PKG_VERSION"))
///     .tool("deploy", "Deploys a service after asking", deploy)
///     .serve("127.0.0.1:8080")
///     .await
/// # }
/// ```
#[must_use = "a server does nothing until it is served"]
pub struct Server {
    info: Implementation,
    instructions: Option<String>,
    offers: Vec<CatalogEntry>,
    extensions: Vec<Extension>,
    backend: Option<Arc<dyn Backend>>,
    states: States,
    keys: Option<GivenKeys>,
    store: Option<Arc<dyn Store>>,
    remembers_rounds: bool,
    sep2322_tasks: bool,
    gate: Option<Gate>,
    probes: Probes,
    middleware: Vec<Box<dyn Middleware>>,
    flow_ids: FlowIds,
    http: HttpConfig,
    serves_sessions: bool,
    changing: bool,
    is_serverless: bool,
    config: ServerConfig,
    logs_to_stderr: bool,
}

impl Server {
    /// A server that offers nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            offers: Vec::new(),
            extensions: Vec::new(),
            backend: None,
            states: States::default(),
            keys: None,
            store: None,
            remembers_rounds: true,
            sep2322_tasks: false,
            gate: None,
            probes: Probes::new(),
            middleware: Vec::new(),
            flow_ids: FlowIds::default(),
            http: HttpConfig::default(),
            serves_sessions: true,
            changing: false,
            is_serverless: false,
            config: ServerConfig::default(),
            logs_to_stderr: false,
        }
    }

    /// Offers a tool whose [handler](Handler) is `async fn(Cx<'_>, A) -> R`, takes
    /// [`State`](crate::State), or is an async closure. For a title, an output
    /// schema and other settings, [`offer`](Self::offer) a [`Tool`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sterna_server::{Cx, Server};
    /// # #[derive(schemars::JsonSchema, serde::Deserialize)]
    /// # struct Lookup { word: String }
    /// # struct Dictionary;
    /// # impl Dictionary { async fn find(&self, word: &str) -> String { word.to_owned() } }
    ///
    /// let dictionary = Arc::new(Dictionary);
    /// let lookup = async move |_cx: Cx<'_>, args: Lookup| dictionary.find(&args.word).await;
    /// let server = Server::new("words", "1.0.0").tool("lookup", "Explains a word", lookup);
    /// # let _ = server;
    /// ```
    ///
    /// A closure is written `async move |cx: Cx<'_>, args: A| { … }`, and what it
    /// captures is cloned for each call. Values that many handlers share are
    /// better given with [`state`](Self::state).
    pub fn tool<H, P, R>(self, name: &str, description: &str, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: JsonSchema + DeserializeOwned>,
        R: IntoToolResult,
    {
        self.offer(Tool::new(name, description, handler))
    }

    /// Offers a prompt whose handler is `async fn(Cx<'_>, A) -> R`.
    pub fn prompt<H, P, R>(self, name: &str, description: &str, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: JsonSchema + DeserializeOwned>,
        R: IntoPromptResult,
    {
        self.offer(Prompt::new(name, description, handler))
    }

    /// Offers a resource whose handler is `async fn(Cx<'_>, Uri) -> R`.
    pub fn resource<H, P, R>(self, uri: &str, name: &str, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: FromUri>,
        R: IntoResourceResult,
    {
        self.offer(Resource::new(uri, name, handler))
    }

    /// Catalog resources whose addresses follow `pattern`, such as
    /// `note://{id}`; the handler is `async fn(Cx<'_>, A) -> R`, and the members
    /// of `A` are the variables.
    pub fn resource_template<H, P, R>(self, pattern: &str, name: &str, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: JsonSchema + DeserializeOwned>,
        R: IntoResourceResult,
    {
        self.offer(ResourceTemplate::new(pattern, name, handler))
    }

    /// Offers a [`Tool`], a [`Prompt`], a [`Resource`] or a
    /// [`ResourceTemplate`]. Lists keep this order.
    pub fn offer(mut self, offer: impl Into<CatalogEntry>) -> Self {
        self.offers.push(offer.into());
        self
    }

    /// Offers what `backend` has, in place of tools, prompts and resources of its
    /// own; a server with both is not built (MR0214). Its lists change, as with
    /// [`dynamic_lists`](Self::dynamic_lists).
    pub fn backend(mut self, backend: impl Backend) -> Self {
        self.backend = Some(Arc::new(backend));
        self
    }

    /// Speaks an [`Extension`] of the protocol.
    pub fn extension(mut self, extension: Extension) -> Self {
        self.extensions.push(extension);
        self
    }

    /// Names the server for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// Shows pictures of the server.
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.info.icons = Some(icons);
        self
    }

    /// Tells the model how to use the server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Gives handlers a value that they share: a parameter of type
    /// [`State<T>`](crate::State), or [`Cx::state`](crate::Cx::state). A second
    /// value of a type replaces the first.
    pub fn state<T: Send + Sync + 'static>(mut self, state: T) -> Self {
        self.states.put(state);
        self
    }

    /// Seals request state with `keys`.
    ///
    /// Without keys the server generates one that no other instance has and
    /// that is lost when it stops. Such a server listens on loopback only
    /// (MR0205).
    pub fn keys(self, keys: Keyring) -> Self {
        self.shared_keys(Arc::new(SharedKeyring::new(keys)))
    }

    /// Seals request state with the keys in the file at `path`, which
    /// `sterna keys new` makes. Every instance needs the same file.
    ///
    /// As [`key_source`](Self::key_source) with a [`KeyFile`].
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), sterna_server::StartError> {
    /// use sterna_server::Server;
    ///
    /// Server::new("deployer", "1.0.0")
    ///     .key_file("keys.toml")
    ///     .serve("127.0.0.1:8080")
    ///     .await
    /// # }
    /// ```
    pub fn key_file(self, path: impl Into<PathBuf>) -> Self {
        self.key_source(KeyFile::new(path))
    }

    /// Seals request state with the keys of `source`: a file, an environment
    /// variable ([`KeyVariable`](sterna_seal::KeyVariable)), or a closure that
    /// fetches them from a secret store.
    ///
    /// The source is read when the server is built. One that cannot be used, or
    /// does not answer within ten seconds, keeps it from being built (MR0208).
    /// It is read again when a request finds the keys older than
    /// [`ServerConfig::reload_keys`], and by a timer while the server
    /// [serves](Service::serve). A source that then fails is logged, and the
    /// keys in use stay in use.
    ///
    /// ```
    /// use sterna_seal::Keyring;
    /// use sterna_server::Server;
    /// # fn fetch_secret(_name: &str) -> std::io::Result<String> {
    /// #     Ok("an-example-only-make-a-secret-of-your-own-0".to_owned())
    /// # }
    ///
    /// let keys = || Ok(Keyring::from_compact(&fetch_secret("mcp/keys")?)?);
    /// let server = Server::new("deployer", "1.0.0").key_source(keys);
    /// # let _ = server;
    /// ```
    ///
    /// The source is read on a thread of its own. A closure that needs async code
    /// can use [`Handle::block_on`](tokio::runtime::Handle::block_on) of a
    /// multi-threaded runtime. On a runtime of one thread, fetch the first ring
    /// before and give both to [`shared_keys`](Self::shared_keys), with
    /// [`SharedKeyring::with_source`].
    pub fn key_source(mut self, source: impl KeySource) -> Self {
        self.keys = Some(GivenKeys::Source(Arc::new(source)));
        self
    }

    /// Seals request state with keys that the program reloads or replaces while
    /// the server runs. Keys that have a source are also read again by the
    /// server, as with [`key_source`](Self::key_source).
    pub fn shared_keys(mut self, keys: Arc<SharedKeyring>) -> Self {
        self.keys = Some(GivenKeys::Shared(keys));
        self
    }

    /// Keeps in `store` what must outlive a request: tasks, effects that happen
    /// at most once, and results too large to travel.
    ///
    /// Instances that share a store work on each other's tasks. The workers run
    /// inside [`serve`](Self::serve); a server that is mounted elsewhere runs
    /// them with [`Service::work`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sterna_server::Server;
    /// use sterna_store::MemoryStore;
    ///
    /// let server = Server::new("jobs", "1.0.0").store(Arc::new(MemoryStore::new()));
    /// # let _ = server;
    /// ```
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Does not enter retries in the ledger of the [`store`](Self::store).
    ///
    /// A server with a store enters every retry of a flow: the same retry sent
    /// twice gets the same response, on any instance, and a retry with other
    /// answers is refused. That costs two writes for each retry.
    ///
    /// Without it, a retry that is sent twice runs twice, and one state can be
    /// answered in two ways. Effects of `cx.once` still happen once, and their
    /// results reach only the answers they were made from. Tools of
    /// [`single_use`](Tool::single_use) are entered nevertheless.
    pub fn forget_rounds(mut self) -> Self {
        self.remembers_rounds = false;
        self
    }

    /// Speaks of tasks as SEP-2322 does, to clients that do not declare the
    /// extension which came of it: a call with `task` becomes one,
    /// `tasks/result` answers with what it asks, and `tasks/input_response`
    /// takes the answers.
    pub fn sep2322_tasks(mut self) -> Self {
        self.sep2322_tasks = true;
        self
    }

    /// Says who may call.
    ///
    /// A server without a gate answers every caller. That is right on loopback
    /// and refused elsewhere and for a mounted service: there it must be said,
    /// with [`anonymous`](Self::anonymous).
    pub fn gate(mut self, gate: Gate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Takes callers from the head of the request, for a server mounted in an
    /// application that authenticates its users itself; see [`Gate::callers`].
    ///
    /// ```
    /// use sterna_server::Server;
    /// use sterna_server::auth::Principal;
    ///
    /// #[derive(Clone)]
    /// struct Session {
    ///     user: Option<String>,
    /// }
    ///
    /// let server = Server::new("shop", "1.0.0").callers(|head| {
    ///     let user = head.extensions.get::<Session>()?.user.as_deref()?;
    ///     Some(Principal::named("shop", user))
    /// });
    /// # let _ = server;
    /// ```
    pub fn callers<C: Into<Caller>>(
        self,
        find: impl Fn(&Parts) -> Option<C> + Send + Sync + 'static,
    ) -> Self {
        self.gate(Gate::callers(find))
    }

    /// Takes callers from the extension of type `T` that a layer of the
    /// application puts into each request. One without it is refused.
    ///
    /// ```
    /// use sterna_server::Server;
    /// use sterna_server::auth::Principal;
    ///
    /// #[derive(Clone)]
    /// struct User {
    ///     id: String,
    /// }
    ///
    /// let server = Server::new("shop", "1.0.0")
    ///     .callers_from_extension(|user: &User| Principal::named("shop", &user.id));
    /// # let _ = server;
    /// ```
    pub fn callers_from_extension<T, C>(
        self,
        name: impl Fn(&T) -> C + Send + Sync + 'static,
    ) -> Self
    where
        T: Send + Sync + 'static,
        C: Into<Caller>,
    {
        self.gate(Gate::callers_from_extension(name))
    }

    /// Answers every caller as the same anonymous principal, so any client can
    /// resume the calls and read the tasks of any other that it learns of.
    pub fn anonymous(self) -> Self {
        self.gate(Gate::open())
    }

    /// Returns `true` if [`gate`](Self::gate) or one of its short forms was called.
    #[must_use]
    pub fn has_gate(&self) -> bool {
        self.gate.is_some()
    }

    /// Says what operators are shown.
    pub fn probes(mut self, probes: Probes) -> Self {
        self.probes = probes;
        self
    }

    /// Runs `middleware` around every round, inside those that were registered
    /// before.
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.middleware.push(Box::new(middleware));
        self
    }

    /// Dates states, sessions and cursors by `clock` instead of the clock of the
    /// system, for tests that move time.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.http.clock = clock;
        self
    }

    /// Takes the ids of new flows from `mint`, for tests that compare runs:
    /// random values and idempotency keys are derived from the id of a flow.
    ///
    /// An id must be secret and used once. A server that takes calls of others
    /// leaves this alone.
    pub fn dangerous_flow_ids(mut self, mint: impl Fn() -> FlowId + Send + Sync + 'static) -> Self {
        self.flow_ids = FlowIds::Repeatable(Arc::new(mint));
        self
    }

    /// Says how the server meets the network.
    pub fn http(mut self, config: HttpConfig) -> Self {
        self.http = config;
        self
    }

    /// Refuses clients of the revisions before 2026-07-28: `initialize` is
    /// answered with the revisions that the server speaks. By default these
    /// clients are served.
    pub fn without_sessions(mut self) -> Self {
        self.serves_sessions = false;
        self
    }

    /// Serves only what needs no process that lives on, for a platform that ends
    /// or freezes processes between two requests.
    ///
    /// Round trips and tasks work; for tasks, something must call
    /// [`Service::work_for`] or run workers elsewhere. Clients of the revisions
    /// before 2026-07-28, which need a session, and `subscriptions/listen`, which
    /// needs a stream that stays open, are refused with an error that says so.
    /// Settings that need either keep the server from being built (MR0213).
    ///
    /// ```
    /// use sterna_server::Server;
    ///
    /// let refused = Server::new("greeter", "1.0.0").dynamic_lists().serverless().build();
    /// assert!(refused.unwrap_err().to_string().contains("MR0213"));
    /// ```
    pub fn serverless(mut self) -> Self {
        self.is_serverless = true;
        self
    }

    /// Has the server declare that its lists change while it runs, so that
    /// [`Changes::update`](crate::Changes::update) may change them.
    ///
    /// Such a server declares tools, prompts and resources even while it has
    /// none: clients ask what a server has once.
    pub fn dynamic_lists(mut self) -> Self {
        self.changing = true;
        self
    }

    /// Replaces the settings.
    pub fn config(mut self, config: ServerConfig) -> Self {
        self.config = config;
        self
    }

    /// Changes some of the settings and leaves the others.
    ///
    /// ```
    /// use sterna_server::Server;
    ///
    /// let server = Server::new("deployer", "1.0.0").configure(|config| config.page = 20);
    /// # let _ = server;
    /// ```
    pub fn configure(mut self, change: impl FnOnce(&mut ServerConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Writes the server's log to standard error from when it is served or
    /// mounted: warnings, errors and important notes, one line each.
    ///
    /// For a program without a `tracing` subscriber, where what the log says
    /// would be lost. A subscriber that the program has installed by then stays
    /// the only one.
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), sterna_server::StartError> {
    /// use sterna_server::Server;
    ///
    /// Server::new("deployer", "1.0.0")
    ///     .log_to_stderr()
    ///     .serve("127.0.0.1:8080")
    ///     .await
    /// # }
    /// ```
    pub fn log_to_stderr(mut self) -> Self {
        self.logs_to_stderr = true;
        self
    }

    /// Checks everything that can be checked before the first request.
    ///
    /// # Errors
    ///
    /// [`BuildError`] lists every mistake that was found: names that are there
    /// twice, schemas that are none, patterns that cannot be read.
    pub fn build(self) -> Result<Service, BuildError> {
        build::build(self)
    }

    /// Builds the server and serves it at `address` until the process is
    /// interrupted.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what to do about it.
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), StartError> {
        self.build()?.serve(address).await
    }

    /// Builds the server and serves one client on standard input and output.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what to do about it.
    pub async fn stdio(self) -> Result<(), StartError> {
        self.build()?.stdio().await
    }
}

/// Keys that the author gave to a server.
pub(super) enum GivenKeys {
    Shared(Arc<SharedKeyring>),
    Source(Arc<dyn KeySource>),
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.info.name)
            .field("offers", &self.offers.len())
            .finish_non_exhaustive()
    }
}
