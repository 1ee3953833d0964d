//! PgBouncer in transaction mode between the store and the database.

use postgres_here::PgBouncer;
use sterna_store_postgres::{Config, Hints};

use crate::contract::keeps_the_contract;
use crate::server::{Server, connect};

#[tokio::test]
async fn pgbouncer_in_transaction_mode_changes_nothing() {
    let Some(server) = Server::shared() else {
        return;
    };
    let Some(pooler) = start(&server) else {
        return;
    };
    let mut config = Config::new(&pooler.connection("postgres")).unwrap();
    config.schema = server.config().schema;
    // More connections than PgBouncer has: each transaction gets another one.
    config.connections = 6;
    config.hints = Hints::Off;
    keeps_the_contract(&server, config).await;
    let transactions = transactions(&pooler).await;
    assert!(transactions > 1000, "{transactions}");
    check_sessions(&pooler).await;
}

/// Fails if the store left statements in a session, where another instance would
/// find them under a name of its own.
async fn check_sessions(pooler: &PgBouncer) {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let client = connect(&pooler.connection("postgres")).await;
        // Holds a connection to the server, so that the next one gets another.
        client.batch_execute("BEGIN").await.unwrap();
        let count = "SELECT count(*) FROM pg_prepared_statements";
        let rows = client.query_typed(count, &[]).await.unwrap();
        assert_eq!(rows[0].get::<_, i64>(0), 0);
        clients.push(client);
    }
}

/// Transactions that PgBouncer has passed on. Its console knows simple queries only.
async fn transactions(pooler: &PgBouncer) -> u64 {
    let console = connect(&pooler.connection("pgbouncer")).await;
    let totals = console.simple_query("SHOW STATS_TOTALS").await.unwrap();
    let rows = totals.iter().filter_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let mut rows = rows.filter(|row| row.get("database") == Some("postgres"));
    let row = rows.next().expect("the database has statistics");
    row.get("xact_count").unwrap().parse().unwrap()
}

fn start(server: &Server) -> Option<PgBouncer> {
    let Some(own) = server.own() else {
        eprintln!("skipped: PgBouncer needs a server of our own, unset STERNA_TEST_POSTGRES");
        return None;
    };
    let pooler = PgBouncer::start(own, CONNECTIONS).unwrap();
    if pooler.is_none() {
        assert!(std::env::var_os("CI").is_none(), "missing: PgBouncer");
        eprintln!("skipped: PgBouncer, install it");
    }
    pooler
}

/// Connections of PgBouncer to the server.
const CONNECTIONS: u32 = 2;
