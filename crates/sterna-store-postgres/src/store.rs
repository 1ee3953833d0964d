//! The store and its life.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use deadpool_postgres::Pool;
use sterna_store::{Backoff, Bell, BoxFuture, Error};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::error::{Failure, no_connection, too_slow};
use crate::migrate::prepare;
use crate::pool::pool;
use crate::rows::Operation;
use crate::session::Session;
use crate::{Config, Schema, listen};

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
    pool: Pool,
    schema: Schema,
    limit: Duration,
    attempts: u32,
    pub(crate) bell: Bell,
    /// Ends with the store.
    _listener: JoinSet<()>,
}

impl PostgresStore {
    /// Connects, and makes sure that the tables are the ones that this program
    /// knows.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the server cannot be reached, `Denied` if it refuses
    /// us, `Incompatible` if the tables are newer, or older and nobody may
    /// migrate them. [`Error::code`] names the page that says what to do.
    pub async fn connect(config: Config) -> Result<Self, Error> {
        let pool = pool(&config)?;
        let bell = Bell::default();
        let store = Self {
            _listener: listen::start(&config, &bell)?,
            pool,
            schema: config.schema.clone(),
            limit: config.limit,
            attempts: config.attempts,
            bell,
        };
        prepare(&store, config.migrate).await?;
        Ok(store)
    }

    /// Does `operation`, more than once if it must.
    pub(crate) fn run<O: Operation + 'static>(
        &self,
        operation: O,
    ) -> BoxFuture<'_, Result<O::Output, Error>> {
        Box::pin(async move {
            let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
            let mut attempt = 1;
            loop {
                match self.attempt(&operation).await {
                    Ok(output) => return Ok(output),
                    Err(failure) if attempt < self.attempts && failure.is_passing() => {
                        attempt += 1;
                        sleep(backoff.pause(random())).await;
                    }
                    Err(failure) => return Err(failure.into()),
                }
            }
        })
    }

    async fn attempt<O: Operation>(&self, operation: &O) -> Result<O::Output, Failure> {
        let connection = self.pool.get().await.map_err(no_connection)?;
        let session = Session::new(connection, &self.schema);
        let attempt = timeout(operation.limit(self.limit), async {
            let result = operation.run(&session).await;
            if !result.as_ref().is_err_and(Failure::is_fatal) {
                session.give_back().await;
            }
            result
        });
        attempt.await.unwrap_or_else(|_| Err(too_slow().into()))
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("schema", &self.schema)
            .field("connections", &self.pool.status())
            .finish_non_exhaustive()
    }
}

/// Anything that differs between instances.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
