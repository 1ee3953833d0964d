//! Versions of the tables.

use std::collections::BTreeSet;
use std::time::Duration;

use sterna_store::{
    BlobId, Blobs, Claimant, Effect, EffectClaim, ErrorKind, FlowId, Ledger, Name, OnceClaim,
};
use sterna_store_postgres::{Config, Migrate, PostgresStore, migrate};
use tokio::task::JoinSet;

use crate::server::{Server, store};

#[tokio::test]
async fn a_newer_database_is_refused_and_says_what_to_do() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    drop(store(&config).await);
    let sql = format!(
        "INSERT INTO {}.migration VALUES (99)",
        config.schema.as_str()
    );
    server.client().await.batch_execute(&sql).await.unwrap();
    let refused = PostgresStore::connect(config.clone()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Incompatible);
    assert_eq!(refused.code(), Some("MR0701"));
    assert!(refused.to_string().contains("schema 99"), "{refused}");
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn a_program_that_may_not_migrate_says_what_to_do() {
    let Some(server) = Server::shared() else {
        return;
    };
    let mut config = server.config();
    config.migrate = Migrate::Never;
    let refused = PostgresStore::connect(config.clone()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Incompatible);
    assert_eq!(refused.code(), Some("MR0702"));
    migrate(config.clone()).await.unwrap();
    PostgresStore::connect(config.clone()).await.unwrap();
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn instances_that_start_at_once_migrate_once() {
    let Some(server) = Server::shared() else {
        return;
    };
    let mut config = server.config();
    config.connections = 1;
    let mut starting = JoinSet::new();
    for _ in 0..8 {
        starting.spawn(PostgresStore::connect(config.clone()));
    }
    for store in starting.join_all().await {
        store.unwrap();
    }
    let sql = format!("SELECT version FROM {}.migration", config.schema.as_str());
    let rows = server.client().await.query(&sql, &[]).await.unwrap();
    let versions: BTreeSet<i64> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(versions.len(), rows.len());
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn effects_of_the_version_before_the_answers_are_readable() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    drop(store(&config).await);
    let schema = config.schema.as_str();
    let before = format!(
        "ALTER TABLE {schema}.effect DROP COLUMN answers;
         DROP INDEX {schema}.task_turn, {schema}.task_open;
         DELETE FROM {schema}.migration WHERE version >= 2;
         INSERT INTO {schema}.effect VALUES
             (decode(repeat('01', 16), 'hex'), 'charge', decode(repeat('02', 16), 'hex'),
              0, 9007199254740991, 'receipt')"
    );
    server.client().await.batch_execute(&before).await.unwrap();
    let store = store(&config).await;
    let effect = Effect::new(FlowId::from_bytes([1; 16]), Name::new("charge").unwrap());
    let claim = EffectClaim::new(Claimant::from_bytes([3; 16]), Duration::from_secs(60));
    let claimed = store.claim_once(effect, claim).await.unwrap();
    let OnceClaim::Settled { result, answers } = claimed else {
        panic!("{claimed:?}");
    };
    assert_eq!(result, "receipt");
    assert!(answers.is_empty());
    drop(store);
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn a_role_without_rights_to_create_can_use_what_another_made() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    migrate(config.clone()).await.unwrap();
    let (client, schema) = (server.client().await, config.schema.as_str());
    let role = format!("{schema}_app");
    let grants = format!(
        "CREATE ROLE {role} LOGIN;
         GRANT USAGE ON SCHEMA {schema} TO {role};
         GRANT SELECT ON {schema}.migration TO {role};
         GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.blob TO {role}"
    );
    client.batch_execute(&grants).await.unwrap();
    let mut limited = Config::new(&server.connection_with("user", &role)).unwrap();
    limited.schema = config.schema.clone();
    let store = PostgresStore::connect(limited).await.unwrap();
    let hour = Duration::from_secs(3600);
    let id = BlobId::from_bytes([1; 16]);
    store.put_blob(id, "mine".into(), hour).await.unwrap();
    // Nothing was granted on effects.
    let refused = store.sweep_ledger(1).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied);
    assert_eq!(refused.code(), Some("MR0705"));
    drop(store);
    server.drop_schema(&config.schema).await;
    client
        .batch_execute(&format!("DROP ROLE {role}"))
        .await
        .unwrap();
}

#[tokio::test]
async fn the_queries_for_a_bad_day_run() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    migrate(config.clone()).await.unwrap();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/stores.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, queries) = page.split_once("```sql").unwrap();
    let (queries, _) = queries.split_once("```").unwrap();
    let queries = queries.replace("sterna.", &format!("{}.", config.schema.as_str()));
    server.client().await.batch_execute(&queries).await.unwrap();
    server.drop_schema(&config.schema).await;
}
