//! The store and its life.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sterna_store::{BoxFuture, Error, NewTask, WakeupSender};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::call::Caller;
use crate::error::cut_off;
use crate::group::{Group, Pending, PendingVerb, SharedCall};
use crate::migrate::{Apply, Find, newer, newest, older};
use crate::pool::pool;
use crate::replication::refused;
use crate::rows::Operation;
use crate::rows::read::Read;
use crate::rows::verb::Verb;
use crate::servers::Servers;
use crate::{Asynchronous, Config, Hints, Migrate, Replication, Schema, listen};

/// A store in a schema of a PostgreSQL database, for a fleet.
///
/// Leases and expiry go by the clock of the database and by no other. Nothing
/// of it depends on a session, so a pooler in transaction mode may stand in
/// between. Calls that lose their connection are made again, which every call
/// of a store allows.
///
/// ```no_run
/// # async fn run() -> Result<(), sterna_store::Error> {
/// use sterna_store_postgres::{Config, PostgresStore};
///
/// let config = Config::new("postgres://sterna@localhost/tasks")?;
/// let store = PostgresStore::connect(config).await?;
/// # Ok(())
/// # }
/// ```
pub struct PostgresStore {
    caller: Arc<Caller>,
    servers: Servers,
    asynchronous: Asynchronous,
    calls: Arc<Calls>,
    pub(crate) creations: Arc<Group<Pending<NewTask>>>,
    changes: Arc<Group<Box<dyn PendingVerb>>>,
    pub(crate) reads: Arc<Group<Pending<Read>>>,
    pub(crate) wakeups: WakeupSender,
    /// Ends with the store.
    _listener: JoinSet<()>,
}

impl PostgresStore {
    /// Connects, and makes sure that the tables are the ones that this program
    /// knows.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the server cannot be reached, `Denied` if it refuses us,
    /// `Incompatible` if the tables are newer, or older and
    /// [`Migrate::Never`](crate::Migrate::Never) is set. [`Error::code`] names the
    /// page that says what to do.
    pub async fn connect(config: Config) -> Result<Self, Error> {
        let servers = Servers::new(&config)?;
        let wakeups = WakeupSender::default();
        let store = Self {
            _listener: listen::start(&config, &wakeups)?,
            caller: Arc::new(Caller {
                pool: pool(&config, servers.clone())?,
                schema: config.schema.clone(),
                limit: config.limit,
                attempts: config.attempts,
                failover: config.failover,
            }),
            servers,
            asynchronous: config.asynchronous,
            calls: Arc::default(),
            // One after the other, so that the quota of an owner counts those before.
            creations: Arc::new(Group::new(1)),
            changes: Arc::new(Group::new(config.connections.clamp(1, LANES))),
            reads: Arc::new(Group::new(config.connections.clamp(1, LANES))),
            wakeups,
        };
        store.prepare(config.migrate).await?;
        Ok(store)
    }

    /// Replication of the server that takes the writes, as of the newest connection.
    pub fn replication(&self) -> Replication {
        self.servers.replication()
    }

    /// Refuses an effect whose claim a failover would forget.
    pub(crate) fn may_claim_effects(&self) -> Result<(), Error> {
        match (self.replication(), self.asynchronous) {
            (found @ Replication::Asynchronous { .. }, Asynchronous::RefusesEffects) => {
                Err(refused(&found))
            }
            _ => Ok(()),
        }
    }

    /// Makes sure that the tables have the version that this program knows.
    async fn prepare(&self, migrate: Migrate) -> Result<(), Error> {
        let found = self.run(Find(self.schema().clone())).await?;
        match (found.cmp(&newest()), migrate) {
            (Ordering::Equal, _) => Ok(()),
            (Ordering::Greater, _) => Err(newer(found)),
            (Ordering::Less, Migrate::Never) => Err(older(found)),
            (Ordering::Less, Migrate::OnConnect) => self.run(Apply(self.schema().clone())).await,
        }
    }

    /// Does `operation`, more than once if it must.
    ///
    /// A call that has been sent to the database is driven to its end, whether or not
    /// the future is polled or dropped meanwhile.
    pub(crate) fn run<O: Operation + 'static>(
        &self,
        operation: O,
    ) -> BoxFuture<'_, Result<O::Output, Error>> {
        Box::pin(async move {
            let (tell, told) = oneshot::channel();
            let caller = Arc::clone(&self.caller);
            self.calls
                .spawn(async move { caller.call(&operation, tell).await });
            told.await.unwrap_or_else(|_| Err(cut_off()))
        })
    }

    /// Changes a task, in a transaction that many changes share.
    pub(crate) fn change<V: Verb>(&self, verb: V) -> BoxFuture<'_, Result<V::Output, Error>> {
        self.run_shared(&self.changes, |tell| {
            Box::new(Pending::new(verb, tell)) as Box<dyn PendingVerb>
        })
    }

    /// Adds a call to `group`. As with [`run`](Self::run), a call that has begun
    /// does not need its future to be polled.
    pub(crate) fn run_shared<'a, C: SharedCall, T: Send + 'a>(
        &'a self,
        group: &'a Arc<Group<C>>,
        call: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> C + Send + 'a,
    ) -> BoxFuture<'a, Result<T, Error>> {
        Box::pin(async move {
            let (tell, told) = oneshot::channel();
            if let Some(lane) = group.add(call(tell)) {
                let caller = Arc::clone(&self.caller);
                let calls = Arc::downgrade(&self.calls);
                self.calls.spawn(lane.run(caller, move |alone| {
                    if let Some(calls) = calls.upgrade() {
                        calls.spawn(alone);
                    }
                }));
            }
            told.await.unwrap_or_else(|_| Err(cut_off()))
        })
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.caller.schema
    }
}

/// The calls that are under way.
///
/// Each runs in a task of its own. A caller that has begun a call and then waits
/// for something else would otherwise hold a connection, and the row lock of an
/// open transaction, for as long as that takes; if it waits for another call on the
/// same row, for ever.
#[derive(Default)]
struct Calls(Mutex<JoinSet<()>>);

impl Calls {
    fn spawn(&self, call: impl Future<Output = ()> + Send + 'static) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while calls.try_join_next().is_some() {}
        calls.spawn(call);
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("schema", self.schema())
            .field("connections", &self.caller.pool.status())
            .finish_non_exhaustive()
    }
}

/// Brings the tables to the version that this program knows, and does nothing
/// else. For a role that may create tables, when the program itself may not.
///
/// # Errors
///
/// As [`PostgresStore::connect`].
pub async fn migrate(mut config: Config) -> Result<(), Error> {
    config.migrate = Migrate::OnConnect;
    config.hints = Hints::Off;
    config.connections = 1;
    PostgresStore::connect(config).await.map(drop)
}

/// Most transactions that calls share at once. Two: while one waits for the disk,
/// the other is sent.
const LANES: usize = 2;
