//! PostgreSQL's errors as errors of a store, with a remedy for the operator.

use deadpool_postgres::{PoolError, TimeoutType};
use sterna_store::{Error, ErrorKind};
use tokio_postgres::error::SqlState;

/// The reason a try failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The database did.
    Database(tokio_postgres::Error),
    /// There is no connection to try it on.
    Lost(Error),
    /// A rule of the store did.
    Refused(Error),
    /// A connection, or an answer on it, did not come in time.
    Stalled(Error),
}

impl Failure {
    /// Returns whether the same call may succeed in a moment.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Database(error) => {
                matches!(classify(error), DbErrorClass::Busy | DbErrorClass::Lost)
            }
            Self::Lost(_) => true,
            Self::Refused(_) | Self::Stalled(_) => false,
        }
    }

    /// Returns whether the same call may succeed on another server, once that takes
    /// writes.
    pub(crate) fn may_pass_elsewhere(&self) -> bool {
        self.is_passing() || matches!(self, Self::Stalled(_))
    }

    /// Returns whether the connection is unusable from here on.
    pub(crate) fn is_fatal(&self) -> bool {
        match self {
            Self::Database(error) => classify(error) == DbErrorClass::Lost,
            Self::Lost(_) | Self::Stalled(_) => true,
            Self::Refused(_) => false,
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Lost(error) | Failure::Refused(error) | Failure::Stalled(error) => error,
            Failure::Database(error) => classify(&error).explain().because(error),
        }
    }
}

/// The class of a database error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DbErrorClass {
    /// Two transactions got into each other's way.
    Busy,
    Damaged,
    Denied,
    Full,
    /// The server has no database of the configured name.
    NoDatabase,
    /// The server or the way to it is gone.
    Lost,
    Slow,
    Unexpected,
    Unmigrated,
}

impl DbErrorClass {
    fn explain(self) -> Error {
        match self {
            Self::Busy => Error::new(
                ErrorKind::Unavailable,
                "the database was too busy with other transactions",
            ),
            Self::Damaged => damaged("the database found itself damaged"),
            Self::Denied => Error::new(
                ErrorKind::Denied,
                "the database refused the role, its password or its privileges",
            )
            .with_code("MR0705"),
            Self::Full => {
                Error::new(ErrorKind::Full, "the database has no room left").with_code("MR0704")
            }
            Self::NoDatabase => Error::new(
                ErrorKind::Denied,
                "the server has no database of the configured name, check `dbname` or create it",
            )
            .with_code("MR0705"),
            Self::Lost => Error::new(
                ErrorKind::Unavailable,
                "the database cannot be reached, \
                 check that it runs and that the connection string has its host and port",
            )
            .with_code("MR0707"),
            Self::Slow => too_slow(),
            Self::Unexpected => Error::new(
                ErrorKind::Internal,
                "the database refused a statement of the store",
            ),
            Self::Unmigrated => Error::new(
                ErrorKind::Incompatible,
                "a table of the store is missing, migrate the database",
            )
            .with_code("MR0702"),
        }
    }
}

fn classify(error: &tokio_postgres::Error) -> DbErrorClass {
    let Some(state) = error.code() else {
        return if error.is_closed() || io_error(error).is_some() {
            DbErrorClass::Lost
        } else {
            DbErrorClass::Unexpected
        };
    };
    match state {
        &SqlState::T_R_SERIALIZATION_FAILURE
        | &SqlState::T_R_DEADLOCK_DETECTED
        | &SqlState::LOCK_NOT_AVAILABLE => DbErrorClass::Busy,
        &SqlState::QUERY_CANCELED => DbErrorClass::Slow,
        // After a failover the pool may still reach the old primary.
        &SqlState::READ_ONLY_SQL_TRANSACTION
        | &SqlState::ADMIN_SHUTDOWN
        | &SqlState::CRASH_SHUTDOWN
        | &SqlState::CANNOT_CONNECT_NOW
        | &SqlState::TOO_MANY_CONNECTIONS => DbErrorClass::Lost,
        &SqlState::DISK_FULL | &SqlState::OUT_OF_MEMORY | &SqlState::PROGRAM_LIMIT_EXCEEDED => {
            DbErrorClass::Full
        }
        &SqlState::INVALID_PASSWORD
        | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION
        | &SqlState::INSUFFICIENT_PRIVILEGE => DbErrorClass::Denied,
        &SqlState::INVALID_CATALOG_NAME => DbErrorClass::NoDatabase,
        &SqlState::UNDEFINED_TABLE
        | &SqlState::UNDEFINED_COLUMN
        | &SqlState::INVALID_SCHEMA_NAME => DbErrorClass::Unmigrated,
        &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => DbErrorClass::Damaged,
        other if other.code().starts_with("08") => DbErrorClass::Lost,
        _ => DbErrorClass::Unexpected,
    }
}

/// Returns whether the two sides could not agree on encryption: TLS was required
/// and not available, or a certificate is not trusted.
fn is_about_trust(error: &tokio_postgres::Error) -> bool {
    match io_error(error) {
        Some(error) => error.kind() == std::io::ErrorKind::InvalidData,
        None => error.code().is_none() && !error.is_closed(),
    }
}

/// The I/O error at the root of `error`, if there is one.
fn io_error(error: &tokio_postgres::Error) -> Option<&std::io::Error> {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref() {
            return Some(error);
        }
        cause = error.source();
    }
    None
}

/// The store was closed in the middle of a call.
pub(crate) fn cut_off() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the store was closed before the call ended",
    )
}

/// No connection could be had.
pub(crate) fn no_connection(error: PoolError) -> Failure {
    match error {
        PoolError::Backend(error) if is_about_trust(&error) => Failure::Refused(
            Error::new(
                ErrorKind::Denied,
                "no connection to the database could be agreed on, check sslmode and certificates",
            )
            .with_code("MR0705")
            .because(error),
        ),
        PoolError::Backend(error) => Failure::Database(error),
        PoolError::Timeout(TimeoutType::Wait) => Failure::Stalled(
            Error::new(
                ErrorKind::Unavailable,
                "every connection to the database is in use",
            )
            .with_code("MR0708"),
        ),
        other => Failure::Lost(
            Error::new(
                ErrorKind::Unavailable,
                "no connection to the database could be made",
            )
            .with_code("MR0707")
            .because(other),
        ),
    }
}

/// A call took longer than it may.
pub(crate) fn too_slow() -> Error {
    Error::new(ErrorKind::Unavailable, "the database took too long").with_code("MR0707")
}

/// A row that no version of this program wrote.
pub(crate) fn damaged(what: &'static str) -> Error {
    Error::new(ErrorKind::Corrupt, what).with_code("MR0706")
}

/// A lease on a task that is no more.
pub(crate) fn gone() -> Error {
    Error::new(ErrorKind::Fenced, "the task was swept away")
}
