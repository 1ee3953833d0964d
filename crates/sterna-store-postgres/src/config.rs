//! Settings of a store in PostgreSQL.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use sterna_store::{Error, ErrorKind};

/// Settings of a [`PostgresStore`](crate::PostgresStore).
///
/// ```
/// use sterna_store_postgres::Config;
///
/// let mut config = Config::new("postgres://sterna@db.internal/tasks?sslmode=require")?;
/// config.connections = 20;
/// # Ok::<(), sterna_store::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    pub(crate) server: tokio_postgres::Config,
    /// The schema that holds the tables.
    pub schema: Schema,
    /// Largest number of connections.
    ///
    /// Eight: a PostgreSQL server with its usual hundred has room for a dozen
    /// instances.
    pub connections: usize,
    /// Longest wait of a call for a free connection.
    pub wait: Duration,
    /// Longest duration of a call once it has a connection. Then the connection is
    /// closed, and the statement it was waiting for is abandoned.
    ///
    /// Fifteen seconds: half a lease, so that a worker can still stop in time.
    pub limit: Duration,
    /// Number of tries of a call when the connection is lost or the database asks for
    /// another try. Every call of a store may be repeated.
    ///
    /// Six: with the pauses between, about three seconds in all.
    pub attempts: u32,
    /// Time for which a call is repeated, beyond its [`attempts`](Self::attempts),
    /// while no server takes writes or a server that was reached does not answer.
    ///
    /// A minute if the connection string names several servers: Patroni takes thirty
    /// seconds to see that a primary is gone, and a moment more to promote another.
    /// Zero for one server.
    pub failover: Duration,
    /// Treatment of effects on a primary whose standbys are not synchronous.
    pub asynchronous: Asynchronous,
    /// The party that brings the tables up to date.
    pub migrate: Migrate,
    /// The source of hints.
    pub hints: Hints,
    /// Authorities to trust when the connection is encrypted, as `sslmode` says.
    pub trust: Trust,
}

impl Config {
    /// Settings for the server that `connection` names: a URL or a list of
    /// `key=value`, as for every other program.
    ///
    /// Several hosts are one primary and its standbys, as in
    /// `postgres://sterna@db1,db2,db3/tasks`. The one that takes writes is used
    /// (`target_session_attrs=read-write`, unless another value is given).
    ///
    /// # Errors
    ///
    /// `Misuse` if it names none.
    pub fn new(connection: &str) -> Result<Self, Error> {
        let mut server: tokio_postgres::Config = connection.parse().map_err(|error| {
            Error::new(
                ErrorKind::Misuse,
                "the connection string is no URL and no list of key=value",
            )
            .because(error)
        })?;
        if server.get_connect_timeout().is_none() {
            server.connect_timeout(Duration::from_secs(5));
        }
        if server.get_application_name().is_none() {
            server.application_name("sterna");
        }
        let is_cluster = server.get_hosts().len().max(server.get_hostaddrs().len()) > 1;
        Ok(Self {
            server,
            schema: Schema::default(),
            connections: 8,
            wait: Duration::from_secs(5),
            limit: Duration::from_secs(15),
            attempts: 6,
            failover: Duration::from_secs(if is_cluster { 60 } else { 0 }),
            asynchronous: Asynchronous::RefusesEffects,
            migrate: Migrate::OnConnect,
            hints: Hints::Listen,
            trust: Trust::System,
        })
    }
}

/// The name of a schema: lower case letters, digits and `_`, up to 40 of them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Schema(String);

impl Schema {
    /// Takes `name` as the name of a schema.
    ///
    /// # Errors
    ///
    /// `Misuse` if it needs quoting.
    pub fn new(name: &str) -> Result<Self, Error> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let first = name
            .bytes()
            .next()
            .is_some_and(|byte| !byte.is_ascii_digit());
        if first && name.len() <= 40 && name.bytes().all(plain) {
            Ok(Self(name.to_owned()))
        } else {
            Err(Error::new(
                ErrorKind::Misuse,
                "a schema is named with lower case letters, digits and _, up to 40 of them",
            ))
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Schema {
    /// `sterna`.
    fn default() -> Self {
        Self("sterna".to_owned())
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The party that brings the tables up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Migrate {
    /// An operator, with [`migrate`](crate::migrate()).
    Never,
    /// The first instance that connects.
    OnConnect,
}

/// Treatment of effects on a primary whose standbys are not synchronous.
///
/// A failover to such a standby takes back what was acknowledged last. For a task
/// that means steps that run again; for the claim of an effect, that the effect runs
/// twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asynchronous {
    /// Effects are claimed all the same: one may run twice after a failover.
    MayRepeatEffects,
    /// No effect is claimed (`MR0710`).
    RefusesEffects,
}

/// The connection for hints that a task was answered or cancelled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Hints {
    /// On a connection of its own to the same server. PgBouncer in transaction mode
    /// does not pass hints on: then this costs a connection and has no effect.
    Listen,
    /// On a connection of its own to the server behind a pooler.
    ListenAt(Box<Config>),
    /// Not at all: workers poll.
    Off,
}

/// Authorities to trust when the connection is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// The authorities in this PEM file and no others.
    File(PathBuf),
    /// The authorities that the system trusts.
    System,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_needs_no_quoting() {
        for good in ["sterna", "_a1", "tenant_42"] {
            assert!(Schema::new(good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "A", "a b", "a\"b", "a;drop", "é", &"x".repeat(41)] {
            assert!(Schema::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let config = Config::new("postgres://u:hunter2@localhost/db").unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
