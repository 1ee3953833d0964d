//! The effects of a lost connection, a slow server and a full pool.

use std::sync::Arc;
use std::time::Duration;

use sterna_store::{BlobId, Blobs, Error, ErrorKind};
use sterna_store_postgres::{Config, Hints, PostgresStore, Schema, Trust};
use tokio::task::JoinSet;
use tokio_postgres::Client;

use crate::server::{Server, store};

const HOUR: Duration = Duration::from_secs(3600);
const ID: BlobId = BlobId::from_bytes([1; 16]);

#[tokio::test]
async fn a_call_survives_the_death_of_its_connection() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    let store = store(&config).await;
    let client = server.client().await;
    for _ in 0..5 {
        put(&store).await.unwrap();
        let killed = terminate(&client, &config.schema).await;
        assert!(killed > 0, "no connection to kill");
        assert_eq!(store.blob(ID).await.unwrap().as_deref(), Some(&b"kept"[..]));
    }
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn a_call_survives_the_death_of_its_connection_in_the_middle() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    let store = Arc::new(store(&config).await);
    put(&store).await.unwrap();
    let lock = Lock::on(&server, &config.schema).await;
    let mut calls = JoinSet::new();
    let calling = Arc::clone(&store);
    calls.spawn(async move { put(&calling).await });
    lock.wait_for_a_client().await;
    terminate(&lock.client, &config.schema).await;
    lock.release().await;
    calls.join_next().await.unwrap().unwrap().unwrap();
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing_open() {
    let Some(server) = Server::shared() else {
        return;
    };
    let mut config = server.config();
    config.connections = 1;
    let store = Arc::new(store(&config).await);
    put(&store).await.unwrap();
    let lock = Lock::on(&server, &config.schema).await;
    let mut calls = JoinSet::new();
    let calling = Arc::clone(&store);
    calls.spawn(async move { put(&calling).await });
    lock.wait_for_a_client().await;
    calls.shutdown().await;
    lock.release().await;
    put(&store).await.unwrap();
    let open = server
        .client()
        .await
        .query(
            "SELECT 1 FROM pg_stat_activity
             WHERE application_name = $1 AND state LIKE 'idle in transaction%'",
            &[&config.schema.as_str()],
        )
        .await;
    assert!(open.unwrap().is_empty());
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn a_call_does_not_wait_forever() {
    let Some(server) = Server::shared() else {
        return;
    };
    let mut config = server.config();
    config.limit = Duration::from_millis(300);
    let store = store(&config).await;
    put(&store).await.unwrap();
    let lock = Lock::on(&server, &config.schema).await;
    check(put(&store).await, ErrorKind::Unavailable, "MR0707");
    lock.release().await;
    put(&store).await.unwrap();
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn a_full_pool_says_so() {
    let Some(server) = Server::shared() else {
        return;
    };
    let mut config = server.config();
    config.connections = 1;
    config.wait = Duration::from_millis(50);
    let store = Arc::new(store(&config).await);
    put(&store).await.unwrap();
    let lock = Lock::on(&server, &config.schema).await;
    let mut calls = JoinSet::new();
    let calling = Arc::clone(&store);
    calls.spawn(async move { put(&calling).await });
    lock.wait_for_a_client().await;
    check(put(&store).await, ErrorKind::Unavailable, "MR0708");
    lock.release().await;
    calls.join_next().await.unwrap().unwrap().unwrap();
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let mut config = Config::new("postgres://user@127.0.0.1:1/none").unwrap();
    config.attempts = 2;
    config.hints = Hints::Off;
    let refused = PostgresStore::connect(config).await.map(drop);
    check(refused, ErrorKind::Unavailable, "MR0707");
}

#[tokio::test]
async fn a_database_that_does_not_exist_is_no_accident() {
    let Some(server) = Server::shared() else {
        return;
    };
    let connection = server.connection_with("dbname", "no_such_database");
    let mut config = Config::new(&connection).unwrap();
    config.hints = Hints::Off;
    let refused = PostgresStore::connect(config).await.map(drop);
    let error = check(refused, ErrorKind::Denied, "MR0705");
    assert!(error.to_string().contains("no database"), "{error}");
    assert!(!error.to_string().contains("role"), "{error}");
}

#[tokio::test]
async fn encryption_that_the_server_does_not_have_is_no_accident() {
    let Some(server) = Server::shared() else {
        return;
    };
    let mut config = Config::new(&server.connection_with("sslmode", "require")).unwrap();
    config.hints = Hints::Off;
    let refused = PostgresStore::connect(config).await.map(drop);
    check(refused, ErrorKind::Denied, "MR0705");
}

#[tokio::test]
async fn a_file_without_certificates_is_named() {
    let mut config = Config::new("postgres://user@127.0.0.1:1/none?sslmode=require").unwrap();
    config.trust = Trust::File("/no/such/authority.pem".into());
    let refused = PostgresStore::connect(config).await.map(drop);
    let error = check(refused, ErrorKind::Denied, "MR0705");
    assert!(error.to_string().contains("authority.pem"), "{error}");
}

#[track_caller]
fn check(result: Result<(), Error>, kind: ErrorKind, code: &str) -> Error {
    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.code()), (kind, Some(code)), "{error}");
    error
}

async fn put(store: &PostgresStore) -> Result<(), Error> {
    store.put_blob(ID, "kept".into(), HOUR).await
}

/// Kills every connection of the store.
async fn terminate(client: &Client, schema: &Schema) -> usize {
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
    let killed = client.query(sql, &[&schema.as_str()]).await;
    killed.unwrap().len()
}

/// Keeps the store from writing its one blob.
struct Lock {
    client: Client,
    schema: String,
}

impl Lock {
    async fn on(server: &Server, schema: &Schema) -> Self {
        let (client, schema) = (server.client().await, schema.as_str().to_owned());
        let sql = format!("BEGIN; SELECT 1 FROM {schema}.blob FOR UPDATE");
        client.batch_execute(&sql).await.unwrap();
        Self { client, schema }
    }

    /// Returns when a call of the store waits for the lock.
    async fn wait_for_a_client(&self) {
        let waiting = "SELECT 1 FROM pg_stat_activity
                       WHERE application_name = $1 AND wait_event_type = 'Lock'";
        loop {
            // A snapshot of the activity lasts for the transaction otherwise.
            self.client
                .query("SELECT pg_stat_clear_snapshot()::text", &[])
                .await
                .unwrap();
            if !self
                .client
                .query(waiting, &[&self.schema])
                .await
                .unwrap()
                .is_empty()
            {
                return;
            }
        }
    }

    async fn release(&self) {
        self.client.batch_execute("ROLLBACK").await.unwrap();
    }
}
