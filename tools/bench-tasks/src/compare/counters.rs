//! What the database counts.

use std::ops::Sub;

use anyhow::Result;
use postgres_here::Postgres;
use tokio_postgres::{Client, NoTls};

/// A connection to a server that counts statements.
pub(super) struct Counters {
    client: Client,
    connection: String,
    /// Whether the server has `pg_stat_statements`.
    counts_statements: bool,
}

impl Counters {
    /// Has `server` count, and take the connections of all engines.
    pub(super) async fn start(server: &Postgres) -> Result<Self> {
        let connection = server.connection();
        let extension = "CREATE EXTENSION pg_stat_statements";
        let counts_statements = connect(&connection)
            .await?
            .batch_execute(extension)
            .await
            .is_ok();
        if counts_statements {
            server.set("shared_preload_libraries = 'pg_stat_statements'")?;
            server.set("pg_stat_statements.track_planning = on")?;
        } else {
            println!("skipped: counting statements, install the contrib modules of PostgreSQL");
        }
        server.set("max_connections = 200")?;
        server.control(&["restart"])?;
        Ok(Self {
            client: connect(&connection).await?,
            connection,
            counts_statements,
        })
    }

    /// Creates the database `name`; returns how to reach it.
    pub(super) async fn create(&self, name: &str) -> Result<String> {
        let create = format!("CREATE DATABASE \"{name}\"");
        self.client.batch_execute(&create).await?;
        let database = format!("dbname={name}");
        Ok(self.connection.replace("dbname=postgres", &database))
    }

    /// Reads the counters of `database`; `None` of an engine that has none.
    ///
    /// The transactions of `pg_stat_database` are up to ten seconds old. Those that
    /// write have a number each, which is known at once, and all engines but one are
    /// idle.
    pub(super) async fn read(&self, database: Option<&str>) -> Result<Option<Counted>> {
        let Some(database) = database else {
            return Ok(None);
        };
        let transactions = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::int8";
        let transactions: i64 = self.client.query_one(transactions, &[]).await?.get(0);
        let statements: Option<i64> = match self.counts_statements {
            true => {
                let sum = "SELECT coalesce(sum(calls), 0)::int8
                    FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid
                    WHERE datname = $1";
                Some(self.client.query_one(sum, &[&database]).await?.get(0))
            }
            false => None,
        };
        Ok(Some(Counted {
            statements,
            transactions,
        }))
    }

    /// Prints what the statements in `database` took, the longest first, if they are
    /// counted.
    pub(super) async fn print_statements(&self, database: &str) -> Result<()> {
        if !self.counts_statements {
            return Ok(());
        }
        let statements = "SELECT calls, rows, total_plan_time, total_exec_time,
                left(regexp_replace(query, '\\s+', ' ', 'g'), 90)
            FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid
            WHERE datname = $1 ORDER BY total_plan_time + total_exec_time DESC LIMIT 20";
        println!("\n| calls | rows | planned, ms | run, ms | statement in {database} |");
        println!("|---|---|---|---|---|");
        for row in self.client.query(statements, &[&database]).await? {
            let (calls, rows): (i64, i64) = (row.get(0), row.get(1));
            let (planned, run): (f64, f64) = (row.get(2), row.get(3));
            let text: String = row.get(4);
            println!("| {calls} | {rows} | {planned:.0} | {run:.0} | `{text}` |");
        }
        Ok(())
    }
}

/// Statements, `BEGIN` and `COMMIT` among them, and transactions that wrote.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    pub(super) statements: Option<i64>,
    pub(super) transactions: i64,
}

impl Sub for Counted {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        let statements = self.statements.zip(before.statements);
        Self {
            statements: statements.map(|(after, before)| after - before),
            transactions: self.transactions - before.transactions,
        }
    }
}

async fn connect(connection: &str) -> Result<Client> {
    let (client, line) = tokio_postgres::connect(connection, NoTls).await?;
    // It ends with its client.
    tokio::spawn(line);
    Ok(client)
}
