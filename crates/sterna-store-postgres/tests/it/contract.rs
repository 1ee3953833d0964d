//! The contract of every store.

use std::sync::Arc;
use std::time::Duration;

use sterna_store::contract::{self, Subject, SurveyedStore};
use sterna_store::{Error, Rings, Shard, Shards, Store, Survey, UnixMillis};
use sterna_store_postgres::{Config, PostgresStore, PostgresSurvey, Schema};

use crate::server::Server;

#[tokio::test]
async fn the_postgres_store_keeps_the_contract() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    keeps_the_contract(&server, config).await;
}

#[tokio::test]
async fn a_store_with_one_connection_keeps_it_too() {
    let Some(server) = Server::shared() else {
        return;
    };
    let mut config = server.config();
    config.connections = 1;
    keeps_the_contract(&server, config).await;
}

#[tokio::test]
async fn shards_of_databases_keep_the_contract() {
    let Some(server) = Server::shared() else {
        return;
    };
    let (mut clocks, mut shards) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let config = server.config();
        let schema = config.schema.clone();
        let store: Arc<dyn Store> = Arc::new(PostgresStore::connect(config).await.unwrap());
        shards.push(Shard::new(schema.as_str(), store));
        let client = server.client().await;
        clocks.push(Clock { client, schema });
    }
    let rings = Rings::new(&[2]).unwrap();
    let store: Arc<dyn Store> = Arc::new(Shards::open(shards, rings).await.unwrap());
    let clocks = Arc::new(clocks);
    let report = contract::shards(|| {
        let (store, clocks) = (Arc::clone(&store), Arc::clone(&clocks));
        Box::pin(async move {
            for clock in clocks.iter() {
                clock.begin_anew().await;
            }
            Ok::<_, Error>(Subject::new(store, move |by| {
                let clocks = Arc::clone(&clocks);
                Box::pin(async move {
                    for clock in clocks.iter() {
                        clock.advance(by).await;
                    }
                    Ok(())
                })
            }))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
    for clock in clocks.iter() {
        server.drop_schema(&clock.schema).await;
    }
}

/// Runs the contract on one store that is emptied before every case.
pub(crate) async fn keeps_the_contract(server: &Arc<Server>, config: Config) {
    let clock = Arc::new(Clock {
        client: server.client().await,
        schema: config.schema.clone(),
    });
    let store: Arc<dyn Store> = Arc::new(PostgresStore::connect(config).await.unwrap());
    let report = contract::store(|| {
        let (store, clock) = (Arc::clone(&store), Arc::clone(&clock));
        Box::pin(async move {
            clock.begin_anew().await;
            Ok::<_, Error>(Subject::new(store, move |by| {
                let clock = Arc::clone(&clock);
                Box::pin(async move {
                    clock.advance(by).await;
                    Ok(())
                })
            }))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
    server.drop_schema(&clock.schema).await;
}

#[tokio::test]
async fn the_operators_view_of_a_database_keeps_its_contract() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    let clock = Arc::new(Clock {
        client: server.client().await,
        schema: config.schema.clone(),
    });
    let store: Arc<dyn Store> = Arc::new(PostgresStore::connect(config.clone()).await.unwrap());
    // An operator with a role that may only read.
    let (schema, role) = (
        config.schema.as_str(),
        format!("{}_op", config.schema.as_str()),
    );
    let grants = format!(
        "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role};
         GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"
    );
    clock.client.batch_execute(&grants).await.unwrap();
    let connection = server.connection_with("user", &role);
    let mut operator = Config::new(&connection).unwrap();
    operator.schema = config.schema;
    let survey: Arc<dyn Survey> = Arc::new(PostgresSurvey::connect(operator).await.unwrap());
    let report = contract::survey(|| {
        let (store, survey) = (Arc::clone(&store), Arc::clone(&survey));
        let clock = Arc::clone(&clock);
        Box::pin(async move {
            clock.begin_anew().await;
            let both = Arc::new(SurveyedStore { store, survey });
            Ok::<_, Error>(Subject::new(both, move |by| {
                let clock = Arc::clone(&clock);
                Box::pin(async move {
                    clock.advance(by).await;
                    Ok(())
                })
            }))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
    server.drop_schema(&clock.schema).await;
    let drop_role = format!("DROP ROLE {role}");
    clock.client.batch_execute(&drop_role).await.unwrap();
}

/// Lets time pass in a schema by moving every time in it back.
struct Clock {
    client: tokio_postgres::Client,
    schema: Schema,
}

const TIMES: [(&str, &[&str]); 4] = [
    (
        "task",
        &["created_at", "updated_at", "expires_at", "due_at"],
    ),
    ("effect", &["claimed_at", "expires_at"]),
    ("round", &["entered_at", "lease_until", "expires_at"]),
    ("blob", &["expires_at"]),
];

impl Clock {
    async fn advance(&self, by: Duration) {
        let mut sql = "BEGIN;".to_owned();
        let (schema, span) = (self.schema.as_str(), UnixMillis::span(by));
        for (table, columns) in TIMES {
            let moved: Vec<_> = columns
                .iter()
                .map(|column| format!("{column} = {column} - {span}"))
                .collect();
            sql += &format!("UPDATE {schema}.{table} SET {};", moved.join(", "));
        }
        sql += "COMMIT";
        self.client.batch_execute(&sql).await.unwrap();
    }

    async fn begin_anew(&self) {
        let schema = self.schema.as_str();
        let sql = TIMES.map(|(table, _)| format!("TRUNCATE {schema}.{table} CASCADE"));
        self.client.batch_execute(&sql.join(";")).await.unwrap();
    }
}
