//! The PostgreSQL server that tests use.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use postgres_here::Postgres;
use sterna_store_postgres::{Config, PostgresStore, Schema};
use tokio_postgres::NoTls;

/// A server that tests may share. It is stopped and removed with the last of
/// them, however that ends.
pub(crate) struct Server {
    connection: String,
    own: Option<Postgres>,
    schemas: AtomicU32,
}

impl Server {
    /// The server that `STERNA_TEST_POSTGRES` names, or one that is started
    /// here. Nothing if there is none to start, which is an error under `CI`.
    pub(crate) fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let server = Arc::new(match std::env::var_os("STERNA_TEST_POSTGRES") {
            Some(connection) => Self {
                connection: connection.into_string().unwrap(),
                own: None,
                schemas: AtomicU32::new(0),
            },
            None => Self::start()?,
        });
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    /// A server that no other test uses, so that it can be stopped. It would
    /// not survive a power cut, which no test has.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("fsync = off")
    }

    /// A server with one more line in its configuration.
    pub(crate) fn start_with(setting: &str) -> Option<Self> {
        let Some(own) = Postgres::start(setting).unwrap() else {
            let what = "PostgreSQL, install it or set STERNA_TEST_POSTGRES";
            assert!(std::env::var_os("CI").is_none(), "missing: {what}");
            eprintln!("skipped: {what}");
            return None;
        };
        Some(Self {
            connection: own.connection(),
            own: Some(own),
            schemas: AtomicU32::new(0),
        })
    }

    /// Our own server, which others are going to follow.
    pub(crate) fn into_own(self) -> Postgres {
        self.own.expect("only our own server is followed")
    }

    /// Settings for a schema that is unused.
    ///
    /// Its connections bear the name of the schema, so that a test can find
    /// them.
    pub(crate) fn config(&self) -> Config {
        let number = self.schemas.fetch_add(1, Ordering::Relaxed);
        let name = format!("t{}_{number}", std::process::id());
        let connection = self.connection_with("application_name", &name);
        let mut config = Config::new(&connection).unwrap();
        config.schema = Schema::new(&name).unwrap();
        config.connections = 4;
        config
    }

    /// The connection string with one more option.
    pub(crate) fn connection_with(&self, key: &str, value: &str) -> String {
        let connection = &self.connection;
        match (connection.contains("://"), connection.contains('?')) {
            (true, true) => format!("{connection}&{key}={value}"),
            (true, false) => format!("{connection}?{key}={value}"),
            (false, _) => format!("{connection} {key}={value}"),
        }
    }

    /// Our own server.
    pub(crate) fn own(&self) -> Option<&Postgres> {
        self.own.as_ref()
    }

    /// The folder of the socket.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.own.as_ref().map(Postgres::folder)
    }

    /// A connection for what a store would not do.
    pub(crate) async fn client(&self) -> tokio_postgres::Client {
        connect(&self.connection).await
    }

    /// Runs `pg_ctl`, which waits until the server has done it.
    pub(crate) fn control(&self, args: &[&str]) {
        let own = self
            .own
            .as_ref()
            .expect("only our own server is controlled");
        own.control(args).unwrap();
    }

    /// Sends a signal, such as `STOP`, to every process of our own server.
    pub(crate) fn signal(&self, signal: &str) {
        let own = self
            .own
            .as_ref()
            .expect("only our own server is controlled");
        own.signal(signal).unwrap();
    }

    /// Removes what a test made on a server that stays.
    pub(crate) async fn drop_schema(&self, schema: &Schema) {
        let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", schema.as_str());
        self.client().await.batch_execute(&sql).await.unwrap();
    }
}

pub(crate) async fn connect(connection: &str) -> tokio_postgres::Client {
    let (client, line) = tokio_postgres::connect(connection, NoTls).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "ends with its client")]
    tokio::spawn(line);
    client
}

pub(crate) async fn store(config: &Config) -> PostgresStore {
    PostgresStore::connect(config.clone()).await.unwrap()
}
