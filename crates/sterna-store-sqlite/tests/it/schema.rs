//! Versions of the tables.

use std::time::Duration;

use rusqlite::Connection;
use sterna_store::{Claimant, Effect, EffectClaim, ErrorKind, FlowId, Ledger, Name, OnceClaim};
use sterna_store_sqlite::{Config, SqliteStore, SqliteSurvey};

#[tokio::test]
async fn a_newer_database_is_refused_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    SqliteStore::open(&path, Config::default())
        .unwrap()
        .close()
        .await;
    let connection = Connection::open(&path).unwrap();
    connection
        .execute("INSERT INTO sterna_schema (version) VALUES (99)", [])
        .unwrap();
    drop(connection);

    let refused = SqliteStore::open(&path, Config::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Incompatible);
    assert_eq!(refused.code(), Some("MR0701"));
    assert!(refused.to_string().contains("schema 99"), "{refused}");
}

#[tokio::test]
async fn an_operator_makes_no_file_and_migrates_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let refused = SqliteSurvey::open(&path).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied);
    assert!(refused.to_string().contains("store.db"), "{refused}");
    assert!(!path.exists());
    // A database of another program.
    let connection = Connection::open(&path).unwrap();
    connection.execute("CREATE TABLE other (x)", []).unwrap();
    let refused = SqliteSurvey::open(&path).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.code()),
        (ErrorKind::Incompatible, Some("MR0702"))
    );
    std::fs::write(folder.path().join("text"), "no database, but text").unwrap();
    let refused = SqliteSurvey::open(folder.path().join("text")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Corrupt);
}

#[tokio::test]
async fn a_database_that_is_opened_again_is_not_migrated_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for _ in 0..3 {
        SqliteStore::open(&path, Config::default())
            .unwrap()
            .close()
            .await;
    }
    let connection = Connection::open(&path).unwrap();
    let versions: (i64, i64) = connection
        .query_row(
            "SELECT count(*), max(version) FROM sterna_schema",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(versions.0, versions.1);
}

#[tokio::test]
async fn processes_that_open_a_new_file_at_once_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    std::thread::scope(|scope| {
        let mut opening = Vec::new();
        for _ in 0..6 {
            opening.push(scope.spawn(|| SqliteStore::open(&path, Config::default())));
        }
        for store in opening {
            store.join().unwrap().unwrap();
        }
    });
}

#[tokio::test]
async fn effects_of_the_version_before_the_answers_are_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(include_str!("../../migrations/0001.sql"))
        .unwrap();
    connection
        .execute_batch(
            "CREATE TABLE sterna_schema (
                 version    INTEGER NOT NULL PRIMARY KEY,
                 applied_at TEXT NOT NULL DEFAULT (datetime('now'))
             ) STRICT;
             INSERT INTO sterna_schema (version) VALUES (1);
             INSERT INTO sterna_effect VALUES
                 (x'01010101010101010101010101010101', 'charge',
                  x'02020202020202020202020202020202', 0, 9007199254740991, x'72656365697074')",
        )
        .unwrap();
    drop(connection);
    let store = SqliteStore::open(&path, Config::default()).unwrap();
    let effect = Effect::new(FlowId::from_bytes([1; 16]), Name::new("charge").unwrap());
    let claim = EffectClaim::new(Claimant::from_bytes([3; 16]), Duration::from_secs(60));
    let claimed = store.claim_once(effect, claim).await.unwrap();
    let OnceClaim::Settled { result, answers } = claimed else {
        panic!("{claimed:?}");
    };
    assert_eq!(result, "receipt");
    assert!(answers.is_empty());
}

#[test]
fn the_tables_of_another_program_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE task (a); INSERT INTO task VALUES (1)")
        .unwrap();
    SqliteStore::open(&path, Config::default()).unwrap();
    let kept: i64 = connection
        .query_row("SELECT a FROM task", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 1);
}
