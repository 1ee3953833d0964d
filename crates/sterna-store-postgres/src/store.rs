//! The store and its life.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sterna_store::{BoxFuture, Error, WakeupSender};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::call::Caller;
use crate::error::cut_off;
use crate::migrate::{Apply, Find, newer, newest, older};
use crate::pool::pool;
use crate::rows::Operation;
use crate::{Config, Hints, Migrate, Schema, listen};

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
    /// The calls that are under way.
    ///
    /// Each runs in a task of its own. A caller that has begun a call and then
    /// waits for something else would otherwise hold a connection, and the row
    /// lock of an open transaction, for as long as that takes; if it waits for
    /// another call on the same row, for ever.
    calls: Mutex<JoinSet<()>>,
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
        let pool = pool(&config)?;
        let wakeups = WakeupSender::default();
        let store = Self {
            _listener: listen::start(&config, &wakeups)?,
            caller: Arc::new(Caller {
                pool,
                schema: config.schema.clone(),
                limit: config.limit,
                attempts: config.attempts,
            }),
            calls: Mutex::default(),
            wakeups,
        };
        store.prepare(config.migrate).await?;
        Ok(store)
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
            {
                let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                while calls.try_join_next().is_some() {}
                calls.spawn(async move { caller.call(&operation, tell).await });
            }
            told.await.unwrap_or_else(|_| Err(cut_off()))
        })
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.caller.schema
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
