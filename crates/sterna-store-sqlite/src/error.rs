//! SQLite's errors as errors of a store, with a remedy for the operator.

use rusqlite::ErrorCode;
use sterna_store::{Error, ErrorKind};

/// Translates `error` for the caller of the store.
pub(crate) fn explain(error: rusqlite::Error) -> Error {
    let (kind, code, message) = match error.sqlite_error_code() {
        // The locking protocol fails when many processes recover a WAL at once.
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed,
        ) => (
            ErrorKind::Unavailable,
            Some("MR0703"),
            "another process has kept the database locked",
        ),
        Some(ErrorCode::DiskFull) => (
            ErrorKind::Full,
            Some("MR0704"),
            "there is no room left on the disk of the database",
        ),
        Some(ErrorCode::TooBig | ErrorCode::OutOfMemory) => (
            ErrorKind::Full,
            None,
            "a value is bigger than SQLite can hold",
        ),
        Some(
            ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::CannotOpen
            | ErrorCode::AuthorizationForStatementDenied,
        ) => (
            ErrorKind::Denied,
            Some("MR0705"),
            "the database or its folder cannot be written by this process",
        ),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => (
            ErrorKind::Corrupt,
            Some("MR0706"),
            "the file is damaged or no SQLite database",
        ),
        Some(ErrorCode::SystemIoFailure) => (
            ErrorKind::Unavailable,
            Some("MR0707"),
            "the disk of the database did not answer",
        ),
        _ => (
            ErrorKind::Internal,
            None,
            "SQLite refused a statement of the store",
        ),
    };
    let explained = Error::new(kind, message).because(error);
    match code {
        Some(code) => explained.with_code(code),
        None => explained,
    }
}

/// A row that no version of this program wrote.
pub(crate) fn damaged(what: &'static str) -> Error {
    Error::new(ErrorKind::Corrupt, what).with_code("MR0706")
}

/// The thread of the store is gone.
pub(crate) fn stopped() -> Error {
    Error::new(ErrorKind::Unavailable, "the store has been closed")
}

/// The same error for another caller.
pub(crate) fn again(error: &Error) -> Error {
    let again = Error::new(error.kind(), error.to_string());
    match error.code() {
        Some(code) => again.with_code(code),
        None => again,
    }
}

/// A lease on a task that is no more.
pub(crate) fn gone() -> Error {
    Error::new(ErrorKind::Fenced, "the task was swept away")
}
