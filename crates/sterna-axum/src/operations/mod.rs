//! Work that outlives its request: operations, which a client looks at, answers
//! and cancels at an address of their own.
//!
//! An operation is a task of `sterna-runner`: a row of the store, which the
//! workers of any instance take up.

mod answers;
mod endpoints;
mod openapi;
mod preference;
mod progress;
mod replay;
mod resource;
mod stored_request;
mod task;
mod wait;
mod workers;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use http::HeaderName;
use http::request::Parts;
use serde_json::Value;
use sterna_runner::tasks::{StartedTask, TaskConfig, TaskQueue, TaskShared, WorkerExit};
use sterna_seal::Principal;
use sterna_store::{Claimed, Name, Owner, Store, TaskId};

pub(crate) use openapi::{any, schema};
pub(crate) use preference::{PREFERENCE_APPLIED, RespondAsync};
pub(crate) use progress::to_note;
pub(crate) use replay::{RestoreHead, replay};
pub(crate) use resource::Resource;
pub(crate) use stored_request::{RequestParts, StoredAnswer, StoredRequest};
pub(crate) use task::{Guesses, OperationTask, finished};

use crate::clock::Clock;
use crate::error::BuildError;

/// Operations of an application: requests that are answered before they are
/// finished.
///
/// A route takes part with [`Pausing::operation`](crate::Pausing::operation).
/// [`router`](Self::router) serves the operations, and [`work`](Self::work) does
/// their work, on this instance or on any other that shares the store.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use axum::{Json, Router, routing::post};
/// use sterna_axum::{Cx, Operations, Problem, Progress, Resume, pausing};
/// use sterna_seal::{Keyring, Principal, SharedKeyring, ThreadEntropy};
/// use sterna_store::MemoryStore;
///
/// async fn import(cx: Cx<'_>, Json(rows): Json<Vec<String>>) -> Result<Json<usize>, Problem> {
///     cx.become_task().await;                     // 202, and a worker goes on
///     for (at, row) in rows.iter().enumerate() {
///         cx.once("load", async |_| row.len()).await?;
///         cx.progress(Progress::new(at as f64).of(rows.len() as f64));
///     }
///     Ok(Json(rows.len()))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let operations = Operations::at("/operations")?;
/// let keys = Arc::new(SharedKeyring::new(Keyring::generate(&mut ThreadEntropy)?));
/// let resume = Resume::new(keys, "https://crm.example")
///     .store(Arc::new(MemoryStore::new()))
///     .caller(|parts| {
///         let user = parts.headers.get("x-user")?.to_str().ok()?;
///         Some(Principal::named("crm", user))
///     })
///     .operations(&operations);
/// let import = pausing(import).operation("import").build(&resume)?;
/// let app: Router = Router::new()
///     .route("/imports", post(import))
///     .merge(operations.router());
/// let shutdown = async {};                        // the signal that ends the server
/// operations.work(shutdown).await;
/// # drop(app);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Operations {
    pub(crate) settings: Arc<OperationSettings>,
    routes: Arc<RwLock<Option<RegisteredRoutes>>>,
}

/// Settings of the operations of an application.
#[derive(Clone)]
pub(crate) struct OperationSettings {
    /// Address under which they are served, without a slash at its end.
    path: String,
    pub(crate) tasks: TaskConfig,
    pub(crate) longest_wait: Duration,
    max_answers: usize,
    pub(crate) kept_headers: Vec<HeaderName>,
    pub(crate) restore: Option<Arc<RestoreHead>>,
}

/// Routes whose requests become operations, and the store that all of them have.
#[derive(Clone)]
struct RegisteredRoutes {
    place: OperationStore,
    by_target: BTreeMap<Name, Arc<dyn OperationRoute>>,
}

/// Store of the operations, as one instance uses it.
#[derive(Clone)]
pub(crate) struct OperationStore {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) queue: Arc<TaskQueue>,
    clock: Clock,
}

/// Route whose requests become operations, without its types.
pub(crate) trait OperationRoute: Send + Sync {
    /// Returns the owner of the operations that the caller of a request with this
    /// head begins here; `None` if the caller is not known.
    fn owner(&self, head: &Parts) -> Option<Owner>;

    /// Checks the answer to the question that was asked under `key` with `schema`.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    fn check_answer(&self, key: &str, schema: &Value, answer: &Value) -> Result<(), String>;

    /// Starts the handler where the journal of its task ends.
    ///
    /// # Errors
    ///
    /// The task cannot be run.
    fn start(
        &self,
        claimed: &Claimed,
        shared: &Arc<TaskShared>,
    ) -> Result<StartedTask<OperationTask>, WorkerExit>;
}

impl Operations {
    /// Operations that are served below `path`, such as `/operations`: the address
    /// that clients see, also if a router in front of this one adds to it.
    ///
    /// # Errors
    ///
    /// `path` is no absolute path of plain segments.
    pub fn at(path: &str) -> Result<Self, BuildError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.~".contains(&byte);
        let segments = path.strip_prefix('/').unwrap_or_default().split('/');
        let are_plain = |segment: &str| !segment.is_empty() && segment.bytes().all(is_plain);
        if !segments.into_iter().all(are_plain) {
            let path = path.to_owned();
            return Err(BuildError::InvalidPath { path });
        }
        let settings = OperationSettings {
            path: path.to_owned(),
            tasks: TaskConfig::default(),
            longest_wait: Duration::from_secs(30),
            max_answers: 2 << 20,
            kept_headers: Vec::new(),
            restore: None,
        };
        Ok(Self {
            settings: Arc::new(settings),
            routes: Arc::default(),
        })
    }

    /// Replaces the numbers of the workers and of the operations: leases,
    /// lifetimes, the quota of a caller. Comes before
    /// [`Resume::operations`](crate::Resume::operations), as all settings do.
    #[must_use]
    pub fn config(self, config: TaskConfig) -> Self {
        self.set(|settings| settings.tasks = config)
    }

    /// Sets the longest time for which a request with `Prefer: respond-async,
    /// wait=N` is held open. Half a minute by default: many proxies give up after
    /// a whole one.
    #[must_use]
    pub fn longest_wait(self, wait: Duration) -> Self {
        self.set(|settings| settings.longest_wait = wait)
    }

    /// Sets the largest body of a request that answers questions: 2 MiB by
    /// default, as that of other requests.
    #[must_use]
    pub fn max_answers(self, bytes: usize) -> Self {
        self.set(|settings| settings.max_answers = bytes)
    }

    /// Keeps a header that has credentials. `Authorization`, `Cookie`,
    /// `Proxy-Authorization` and fields that are marked as sensitive are not
    /// written to the store otherwise.
    #[must_use]
    pub fn keep_header(self, name: HeaderName) -> Self {
        self.set(|settings| settings.kept_headers.push(name))
    }

    /// Sets a function that puts back into the head of a request what the
    /// application's middleware had left in it, such as its user.
    ///
    /// Extensions of a request are not stored. A worker calls this before the
    /// extractors of a handler run, with the caller who began the operation.
    #[must_use]
    pub fn restore(self, restore: impl Fn(&mut Parts, &Principal) + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.restore = Some(Arc::new(restore)))
    }

    fn set(mut self, set: impl FnOnce(&mut OperationSettings)) -> Self {
        set(Arc::make_mut(&mut self.settings));
        self
    }

    /// Returns the store of the operations, in `store`.
    ///
    /// # Errors
    ///
    /// Another route has another store.
    pub(crate) fn place_in(
        &self,
        store: &Arc<dyn Store>,
        clock: &Clock,
    ) -> Result<OperationStore, BuildError> {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        let routes = routes.get_or_insert_with(|| {
            let queue = TaskQueue::new(Arc::clone(store), self.settings.tasks.clone());
            RegisteredRoutes {
                place: OperationStore {
                    store: Arc::clone(store),
                    queue: Arc::new(queue),
                    clock: clock.clone(),
                },
                by_target: BTreeMap::new(),
            }
        });
        let place = &routes.place;
        match Arc::ptr_eq(&place.store, store) {
            true => Ok(place.clone()),
            false => Err(BuildError::OtherStore),
        }
    }

    /// Adds a route whose tasks have `target`, after
    /// [`place_in`](Self::place_in) has given it its place.
    ///
    /// # Errors
    ///
    /// There is one of that name.
    pub(crate) fn add(
        &self,
        name: &str,
        target: Name,
        route: Arc<dyn OperationRoute>,
    ) -> Result<(), BuildError> {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        let by_target = routes.as_mut().map(|routes| &mut routes.by_target);
        match by_target.map(|routes| routes.entry(target)) {
            Some(Entry::Vacant(vacant)) => {
                vacant.insert(route);
                Ok(())
            }
            _ => {
                let name = name.to_owned();
                Err(BuildError::OperationTwice { name })
            }
        }
    }

    /// Returns the store and the routes as they are now; `None` if there is no
    /// route.
    fn registered(&self) -> Option<RegisteredRoutes> {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        routes.clone()
    }
}

impl OperationSettings {
    /// Returns the address of an operation.
    pub(crate) fn location(&self, id: TaskId) -> String {
        format!("{}/{id}", self.path)
    }

    /// Returns the operation at `location`; `None` if it is none.
    pub(crate) fn at_location(&self, location: &str) -> Option<TaskId> {
        let id = location.strip_prefix(&self.path)?.strip_prefix('/')?;
        id.parse().ok()
    }

    /// Represents `task`.
    pub(crate) fn represent(&self, task: &sterna_store::Task) -> Resource {
        Resource::of(task, self.tasks.poll_interval)
    }
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operations")
            .field("path", &self.settings.path)
            .field("tasks", &self.settings.tasks)
            .finish_non_exhaustive()
    }
}
