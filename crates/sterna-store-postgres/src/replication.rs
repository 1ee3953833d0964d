//! The replication of the server that takes the writes.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sterna_store::{Error, ErrorKind};
use tokio_postgres::{Client, SimpleQueryMessage};

/// Durability of a commit on the server that takes the writes, as the server says
/// when a connection is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replication {
    /// It has no standby. A commit is as durable as its disk.
    #[default]
    Alone,
    /// Commits are acknowledged before a standby has them, or before they are on a
    /// disk. A failover takes back what was acknowledged last.
    Asynchronous {
        /// Number of standbys that follow it.
        standbys: u32,
        /// Reason, with the setting that causes it.
        cause: String,
    },
    /// A commit is acknowledged when a standby has it.
    Synchronous {
        /// Number of standbys that follow it.
        standbys: u32,
    },
}

impl Replication {
    /// Judges the settings of a server; `servers` is the number of servers that the
    /// connection string names.
    fn judge(names: &str, commit: &str, standbys: u32, servers: usize) -> Self {
        let asynchronous = |cause: String| Self::Asynchronous { standbys, cause };
        let has_standbys = standbys > 0 || servers > 1;
        if matches!(commit, "off" | "local") && (has_standbys || commit == "off") {
            return asynchronous(format!("synchronous_commit is {commit}"));
        }
        match (names.trim().is_empty(), has_standbys) {
            (false, _) => Self::Synchronous { standbys },
            (true, true) => asynchronous("synchronous_standby_names is empty".to_owned()),
            (true, false) => Self::Alone,
        }
    }
}

impl fmt::Display for Replication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let following = |standbys: &u32| match standbys {
            1 => "1 standby".to_owned(),
            count => format!("{count} standbys"),
        };
        match self {
            Self::Alone => f.write_str("a server without standbys"),
            Self::Asynchronous { standbys, cause } => {
                let standbys = following(standbys);
                write!(f, "{standbys}, and none is synchronous: {cause}")
            }
            Self::Synchronous { standbys } => {
                let standbys = following(standbys);
                write!(f, "{standbys}, and commits wait for a synchronous one")
            }
        }
    }
}

/// The replication that the newest connection found.
pub(crate) struct ReplicationWatch {
    /// Number of servers that the connection string names.
    servers: usize,
    found: Mutex<Replication>,
}

impl ReplicationWatch {
    pub(crate) fn new(servers: usize) -> Self {
        Self {
            servers,
            found: Mutex::default(),
        }
    }

    pub(crate) fn read(&self) -> Replication {
        self.found().clone()
    }

    /// Asks a server, and logs what it says if that is new and costs durability.
    ///
    /// A standby may be asked, too: after its promotion a new connection is made.
    pub(crate) async fn ask(&self, client: &Client) -> Result<(), tokio_postgres::Error> {
        // The simple protocol: one round trip, and no statement that a pooler keeps.
        let messages = client.simple_query(ASK).await?;
        let row = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let text = |index| row.and_then(|row| row.get(index)).unwrap_or_default();
        let standbys = text(2).parse().unwrap_or_default();
        let replication = Replication::judge(text(0), text(1), standbys, self.servers);
        let mut found = self.found();
        if *found != replication {
            if matches!(replication, Replication::Asynchronous { .. }) {
                tracing::warn!(
                    target: "sterna::store",
                    code = "MR0710",
                    "MR0710: the database has {replication}; a failover loses what was acknowledged last"
                );
            }
            *found = replication;
        }
        Ok(())
    }

    fn found(&self) -> MutexGuard<'_, Replication> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The refusal of an effect that a failover could run twice.
///
/// The database answers and is configured as its operator wants it; the program
/// asks it for more than it promises.
pub(crate) fn refused(replication: &Replication) -> Error {
    Error::new(
        ErrorKind::Misuse,
        format!(
            "no effect is claimed on a database with {replication}: a failover would forget \
             the claim, and the effect would run twice. Make a standby synchronous, or set \
             `Config::asynchronous` to `Asynchronous::MayRepeatEffects`"
        ),
    )
    .with_code("MR0710")
}

/// A base backup is listed among the standbys while it runs, and is none. A role
/// that may not see the state of standbys sees that they are there.
const ASK: &str = "SELECT current_setting('synchronous_standby_names'),
           current_setting('synchronous_commit'),
           (SELECT count(*) FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup')";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &str, commit: &str, standbys: u32, servers: usize, expected: &str) {
        let judged = Replication::judge(names, commit, standbys, servers);
        assert_eq!(judged.to_string(), expected);
    }

    #[test]
    fn a_server_is_judged_by_its_standbys_and_settings() {
        check("", "on", 0, 1, "a server without standbys");
        check("", "local", 0, 1, "a server without standbys");
        let waits = "2 standbys, and commits wait for a synchronous one";
        check("ANY 1 (a, b)", "on", 2, 3, waits);
        check("*", "remote_write", 2, 1, waits);
        let empty = "1 standby, and none is synchronous: synchronous_standby_names is empty";
        check("", "on", 1, 1, empty);
        let local = "1 standby, and none is synchronous: synchronous_commit is local";
        check("*", "local", 1, 1, local);
    }

    #[test]
    fn several_servers_without_a_synchronous_one_are_not_alone() {
        let down = "0 standbys, and none is synchronous: synchronous_standby_names is empty";
        check("", "on", 0, 2, down);
    }

    #[test]
    fn a_server_that_does_not_wait_for_its_disk_loses_commits_alone_too() {
        let off = "0 standbys, and none is synchronous: synchronous_commit is off";
        check("", "off", 0, 1, off);
    }
}
