//! The table of effects, in the database that the instances share.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use rusqlite::Connection;
use tokio::time::{Instant, sleep};
use tokio_postgres::NoTls;
use tokio_postgres::config::{LoadBalanceHosts, TargetSessionAttrs};

use crate::effects::{Effect, LONGEST};

/// Which database it is.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    Postgres(String),
    Sqlite(PathBuf),
}

impl Table {
    /// The database that `store` names, as instances are told it.
    pub(crate) fn of(store: &str) -> Self {
        if store.contains('=') {
            Self::Postgres(store.to_owned())
        } else {
            Self::Sqlite(store.into())
        }
    }

    /// Makes the table.
    pub(crate) async fn create(&self) -> Result<()> {
        let table = "CREATE TABLE IF NOT EXISTS chaos_effect
            (id text PRIMARY KEY, what text NOT NULL, number bigint NOT NULL, value text NOT NULL)";
        match self {
            Self::Postgres(connection) => {
                let since = Instant::now();
                let create = async || connect(connection).await?.batch_execute(table).await;
                // A primary may be missing for a while.
                while let Err(error) = create().await {
                    ensure!(since.elapsed() < LONGEST, "no table: {error}");
                    sleep(Duration::from_millis(200)).await;
                }
            }
            Self::Sqlite(path) => open(path)?.execute_batch(table)?,
        }
        Ok(())
    }

    /// Adds a row, once, however often it is tried.
    pub(crate) async fn insert(&self, effect: &Effect) -> Result<()> {
        let order = i64::try_from(effect.order)?;
        match self {
            Self::Postgres(connection) => {
                // A connection for each: what was cut off must not be waited for.
                let client = tokio::time::timeout(PATIENCE, connect(connection)).await??;
                let insert =
                    "INSERT INTO chaos_effect VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
                let what = effect.what.as_str();
                let row = [
                    &effect.id as &(dyn tokio_postgres::types::ToSql + Sync),
                    &what,
                    &order,
                    &effect.value,
                ];
                tokio::time::timeout(PATIENCE, client.execute(insert, &row)).await??;
            }
            Self::Sqlite(path) => {
                let (path, effect) = (path.clone(), effect.clone());
                let inserted = tokio::task::spawn_blocking(move || {
                    let insert = "INSERT OR IGNORE INTO chaos_effect VALUES (?1, ?2, ?3, ?4)";
                    let row = (&effect.id, effect.what.as_str(), order, &effect.value);
                    open(&path)?.execute(insert, row)
                });
                inserted.await??;
            }
        }
        Ok(())
    }

    /// The ids of all rows.
    pub(crate) async fn ids(&self) -> Result<BTreeSet<String>> {
        let select = "SELECT id FROM chaos_effect";
        Ok(match self {
            Self::Postgres(connection) => {
                let rows = connect(connection).await?.query(select, &[]).await?;
                rows.iter().map(|row| row.get(0)).collect()
            }
            Self::Sqlite(path) => {
                let connection = open(path)?;
                let mut statement = connection.prepare(select)?;
                let ids = statement.query_map([], |row| row.get(0))?;
                ids.collect::<Result<_, _>>()?
            }
        })
    }
}

fn open(path: &PathBuf) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

async fn connect(connection: &str) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    let mut config: tokio_postgres::Config = connection.parse()?;
    if config.get_hosts().len() > 1 {
        // A server that is stopped accepts a connection and says no more. Each try
        // begins with another server, so that it is not waited for again.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.load_balance_hosts(LoadBalanceHosts::Random);
    }
    let (client, line) = config.connect(NoTls).await?;
    // It ends with its client.
    tokio::spawn(line);
    Ok(client)
}

const PATIENCE: Duration = Duration::from_secs(5);
