//! Opening a file.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use sterna_store::{Backoff, Error, ErrorKind};

use crate::Config;
use crate::error::explain;

/// A connection that may write. Makes the file if there is none.
pub(crate) fn writer(path: &Path, config: &Config) -> Result<Connection, Error> {
    make_private(path)?;
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, config)?;
    // Asking for WAL on a file that cannot be written succeeds and leaves the
    // mode as it was.
    let mode = switch_to_wal(&connection, config.busy).map_err(explain)?;
    if mode != "wal" {
        return Err(Error::new(
            ErrorKind::Denied,
            format!("the database is in {mode} mode and cannot be switched to WAL: put it on a local disk and make it writable"),
        )
        .with_code("MR0705"));
    }
    connection
        .execute_batch(
            "PRAGMA foreign_keys = ON;
             PRAGMA fullfsync = ON;
             PRAGMA checkpoint_fullfsync = ON;",
        )
        .and_then(|()| connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES))
        .and_then(|()| connection.pragma_update(None, "cache_size", -CACHE_KIB))
        .map_err(explain)?;
    if let Some(bytes) = config.bytes {
        limit(&connection, bytes).map_err(explain)?;
    }
    Ok(connection)
}

/// Switches the file to WAL mode and returns the mode it is in.
///
/// The switch upgrades a read lock to an exclusive one. SQLite calls no busy
/// handler for an upgrade, because two connections that upgrade at once would
/// wait for each other. It answers `SQLITE_BUSY` and drops its lock, so the
/// statement is repeated here until `busy` has passed.
fn switch_to_wal(connection: &Connection, busy: Duration) -> Result<String, rusqlite::Error> {
    // All the waiting is done here: the handler would add to it.
    connection.busy_timeout(Duration::ZERO)?;
    let mut backoff = Backoff::new(Duration::from_millis(2), Duration::from_millis(50));
    let mut waited = Duration::ZERO;
    let switched = loop {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        if waited >= busy || !is_busy(&mode) {
            break mode;
        }
        // Processes that start at once must not try again at once.
        let pause = backoff.pause(RandomState::new().hash_one(()));
        let pause = pause.min(busy - waited);
        #[expect(
            clippy::disallowed_methods,
            reason = "SQLite has no way to wait for this lock, and the caller opens the file on its own thread"
        )]
        std::thread::sleep(pause);
        waited += pause;
    };
    connection.busy_timeout(busy)?;
    switched
}

fn is_busy<T>(result: &Result<T, rusqlite::Error>) -> bool {
    let code = result
        .as_ref()
        .err()
        .and_then(|error| error.sqlite_error_code());
    matches!(
        code,
        Some(ErrorCode::DatabaseBusy | ErrorCode::FileLockingProtocolFailed)
    )
}

/// SQLite counts pages, and never less than there are.
fn limit(connection: &Connection, bytes: u64) -> Result<(), rusqlite::Error> {
    let page: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
    connection.query_row(
        &format!("PRAGMA max_page_count = {}", pages.max(1)),
        [],
        |_| Ok(()),
    )
}

/// A connection that only reads a file that exists.
pub(crate) fn reader(path: &Path, config: &Config) -> Result<Connection, Error> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, config)?;
    connection
        .execute_batch("PRAGMA query_only = ON")
        .map_err(explain)?;
    Ok(connection)
}

fn connect(path: &Path, access: OpenFlags, config: &Config) -> Result<Connection, Error> {
    // No URI: a path that begins with "file:" is a path.
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(explain)?;
    connection.busy_timeout(config.busy).map_err(explain)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Makes an empty file that only its owner can read, unless there is one.
///
/// SQLite gives its side files the permissions of the database, so this is
/// enough for all of them.
fn make_private(path: &Path) -> Result<(), Error> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::new(
            ErrorKind::Denied,
            format!(
                "{} cannot be created: make its folder exist and writable",
                path.display()
            ),
        )
        .with_code("MR0705")
        .because(error)),
    }
}

/// Pages of the log (16 MiB) after which it is copied into the database. Task ids are
/// random, so the pages of a busy store are written often; with SQLite's own 1,000
/// every few commits waited for a copy.
const CHECKPOINT_PAGES: i64 = 4_000;

/// Memory for pages of the database, in KiB: indexes of random ids stay in it.
const CACHE_KIB: i64 = 16 * 1024;
