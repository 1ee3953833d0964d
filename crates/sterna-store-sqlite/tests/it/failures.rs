//! The effects of a broken disk, a broken file or another process.

use std::fs;
use std::time::Duration;

use rusqlite::Connection;
use sterna_store::{BlobId, Blobs, Error, ErrorKind};
use sterna_store_sqlite::{Config, SqliteStore};

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    fs::write(
        &path,
        "a shopping list that is long enough to be looked at ".repeat(99),
    )
    .unwrap();
    let refused = SqliteStore::open(&path, Config::default()).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.code()),
        (ErrorKind::Corrupt, Some("MR0706"))
    );
    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .starts_with("a shopping list")
    );
}

#[test]
fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no such folder").join("store.db");
    let refused = SqliteStore::open(&path, Config::default()).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.code()),
        (ErrorKind::Denied, Some("MR0705"))
    );
    assert!(refused.to_string().contains("no such folder"), "{refused}");
}

#[test]
fn a_folder_is_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let refused = SqliteStore::open(folder.path(), Config::default()).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.code()),
        (ErrorKind::Denied, Some("MR0705"))
    );
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_a_new_database() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path, Config::default()).unwrap();
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        let file = fs::metadata(folder.path().join(name)).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
    }
    drop(store);
}

#[cfg(unix)]
#[test]
fn a_database_that_cannot_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(
        Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE t (a)"),
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::OpenOptions::new().write(true).open(&path).is_ok() {
        eprintln!("skipped: root writes everywhere, run the tests as another user");
        return;
    }
    let refused = SqliteStore::open(&path, Config::default()).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.code()),
        (ErrorKind::Denied, Some("MR0705"))
    );
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_damaged_database_is_reported_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path, Config::default()).unwrap();
    put(&store, 1, 100_000).await.unwrap();
    store.close().await;
    // The first page holds the schema and stays; everything else is noise.
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let found = match SqliteStore::open(&path, Config::default()) {
        Ok(store) => put(&store, 2, 10).await.unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(
        (found.kind(), found.code()),
        (ErrorKind::Corrupt, Some("MR0706"))
    );
}

#[tokio::test]
async fn a_locked_database_is_unavailable_and_then_works_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut config = Config::default();
    config.busy = Duration::from_millis(1);
    let store = SqliteStore::open(&path, config).unwrap();
    let neighbour = Connection::open(&path).unwrap();
    neighbour.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = put(&store, 1, 10).await.unwrap_err();
    assert_eq!(
        (refused.kind(), refused.code()),
        (ErrorKind::Unavailable, Some("MR0703"))
    );
    // Reading goes on.
    assert_eq!(store.blob(BlobId::from_bytes([1; 16])).await.unwrap(), None);
    neighbour.execute_batch("ROLLBACK").unwrap();
    put(&store, 1, 10).await.unwrap();
}

#[test]
fn opening_a_file_that_is_being_written_waits_for_the_configured_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let neighbour = Connection::open(&path).unwrap();
    neighbour
        .execute_batch("CREATE TABLE t (a); BEGIN IMMEDIATE")
        .unwrap();
    let mut config = Config::default();
    config.busy = Duration::from_millis(300);
    let begun = tokio::time::Instant::now();
    let refused = SqliteStore::open(&path, config).unwrap_err();
    let waited = begun.elapsed();
    assert_eq!(
        (refused.kind(), refused.code()),
        (ErrorKind::Unavailable, Some("MR0703"))
    );
    assert!(waited >= Duration::from_millis(300), "{waited:?}");
    neighbour.execute_batch("COMMIT").unwrap();
    SqliteStore::open(&path, Config::default()).unwrap();
}

#[tokio::test]
async fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut config = Config::default();
    // SQLite reports a database at its limit as a full disk.
    config.bytes = Some(200_000);
    let store = SqliteStore::open(&path, config).unwrap();
    let mut kept = Vec::new();
    let mut refused = 0;
    for number in 0..100 {
        // One after the other: together they might share one commit and its fate.
        match put(&store, number, 4000).await {
            Ok(()) => kept.push(number),
            Err(error) => {
                let found = (error.kind(), error.code());
                assert_eq!(found, (ErrorKind::Full, Some("MR0704")));
                refused += 1;
            }
        }
    }
    assert!(refused > 10 && kept.len() > 10, "{kept:?}");
    for number in kept {
        let blob = store.blob(BlobId::from_bytes([number; 16])).await.unwrap();
        assert_eq!(blob.unwrap().len(), 4000);
    }
}

async fn put(store: &SqliteStore, number: u8, size: usize) -> Result<(), Error> {
    let id = BlobId::from_bytes([number; 16]);
    store
        .put_blob(id, vec![number; size].into(), Duration::from_secs(60))
        .await
}
