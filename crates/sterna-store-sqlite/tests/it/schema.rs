//! Versions of the tables.

use rusqlite::Connection;
use sterna_store::ErrorKind;
use sterna_store_sqlite::{Config, SqliteStore};

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
    let versions: i64 = connection
        .query_row("SELECT count(*) FROM sterna_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(versions, 1);
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
