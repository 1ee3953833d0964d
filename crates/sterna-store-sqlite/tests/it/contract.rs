//! The contract of every store.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use rusqlite::Connection;
use sterna_store::contract::{self, Subject, SurveyedStore};
use sterna_store::{
    Claim, Error, FlowId, Name, NewTask, Owner, Rings, Shard, Shards, Store, TaskId, Tasks,
    UnixMillis,
};
use sterna_store_sqlite::{Config, SqliteStore, SqliteSurvey};
use tempfile::TempDir;

#[tokio::test]
async fn the_sqlite_store_keeps_the_contract() {
    let report = contract::store(|| Box::pin(async { subject(Config::default()) })).await;
    assert!(report.is_kept(), "{report}");
}

#[tokio::test]
async fn a_store_that_does_one_thing_at_a_time_keeps_it_too() {
    let mut config = Config::default();
    config.queue = 1;
    config.batch = 1;
    let report = contract::store(move || {
        let config = config.clone();
        Box::pin(async move { subject(config) })
    })
    .await;
    assert!(report.is_kept(), "{report}");
}

#[tokio::test]
async fn shards_of_files_keep_the_contract() {
    let report = contract::shards(|| {
        Box::pin(async {
            let folders = [0, 1].map(|_| tempfile::tempdir().unwrap());
            let open = |folder: &TempDir| {
                let path = folder.path().join("store.db");
                let store: Arc<dyn Store> =
                    Arc::new(SqliteStore::open(&path, Config::default()).unwrap());
                Shard::new(path.display().to_string(), store)
            };
            let shards = folders.iter().map(open).collect();
            let store: Arc<dyn Store> = Arc::new(Shards::open(shards, Rings::new(&[2])?).await?);
            let clocks = Arc::new(folders.map(|folder| Clock { folder }));
            Ok(Subject::new(store, move |by| {
                let clocks = Arc::clone(&clocks);
                Box::pin(async move {
                    clocks.iter().for_each(|clock| clock.advance(by));
                    Ok(())
                })
            }))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
}

#[tokio::test]
async fn two_stores_on_one_file_share_no_task() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let stores = [0, 1].map(|_| SqliteStore::open(&path, Config::default()).unwrap());
    let tool = Name::new("tool").unwrap();
    for number in 0..50 {
        let (id, flow) = (
            TaskId::from_bytes([number; 16]),
            FlowId::from_bytes([number; 16]),
        );
        let principal = Owner::from_digest([1; 32]);
        let task = NewTask::new(id, principal, flow, tool.clone(), Bytes::new());
        stores[usize::from(number % 2)].create(task).await.unwrap();
    }
    let claims = (0..100).map(|n| {
        let worker = Claim::new(tool.clone(), Duration::from_secs(60));
        stores[n % 2].claim(worker)
    });
    let claimed: Vec<_> = join_all(claims).await;
    let leases: Vec<_> = claimed
        .into_iter()
        .flat_map(|claimed| claimed.unwrap())
        .map(|claimed| claimed.lease.task)
        .collect();
    assert_eq!(leases.len(), 50);
    assert_eq!(leases.into_iter().collect::<BTreeSet<_>>().len(), 50);
}

#[tokio::test]
async fn the_operators_view_of_a_file_keeps_its_contract() {
    let report = contract::survey(|| {
        Box::pin(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("store.db");
            let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path, Config::default())?);
            let survey = Arc::new(SqliteSurvey::open(&path)?);
            let clock = Arc::new(Clock { folder });
            let both = Arc::new(SurveyedStore { store, survey });
            Ok(Subject::new(both, move |by| {
                let clock = Arc::clone(&clock);
                Box::pin(async move {
                    clock.advance(by);
                    Ok(())
                })
            }))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
}

fn subject(config: Config) -> Result<Subject<dyn Store>, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path, config)?);
    let clock = Arc::new(Clock { folder });
    Ok(Subject::new(store, move |by| {
        let clock = Arc::clone(&clock);
        Box::pin(async move {
            clock.advance(by);
            Ok(())
        })
    }))
}

/// Lets time pass by moving every time in the database back.
struct Clock {
    folder: TempDir,
}

impl Clock {
    fn advance(&self, by: Duration) {
        shift(&self.folder.path().join("store.db"), by);
    }
}

fn shift(path: &Path, by: Duration) {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    connection
        .execute_batch("PRAGMA synchronous = OFF; BEGIN IMMEDIATE")
        .unwrap();
    for (table, columns) in [
        (
            "sterna_task",
            &["created_at", "updated_at", "expires_at", "due_at"][..],
        ),
        ("sterna_effect", &["claimed_at", "expires_at"]),
        ("sterna_round", &["entered_at", "lease_until", "expires_at"]),
        ("sterna_blob", &["expires_at"]),
    ] {
        for column in columns {
            let sql = format!("UPDATE {table} SET {column} = {column} - ?1");
            connection.execute(&sql, [UnixMillis::span(by)]).unwrap();
        }
    }
    connection.execute_batch("COMMIT").unwrap();
}
