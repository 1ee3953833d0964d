//! One row per transaction, and nothing else.

use std::time::Instant;

use anyhow::Result;
use rusqlite::Connection;
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use crate::commits::VALUE;
use crate::report;

pub(crate) fn sqlite(rows: u32) -> Result<()> {
    for synchronous in ["NORMAL", "FULL"] {
        let folder = tempfile::tempdir()?;
        let connection = Connection::open(folder.path().join("bare.db"))?;
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
             CREATE TABLE t (id INTEGER PRIMARY KEY, value BLOB) STRICT"
        ))?;
        let mut insert = connection.prepare("INSERT INTO t (value) VALUES (?1)")?;
        let since = Instant::now();
        for _ in 0..rows {
            insert.execute([&VALUE[..]])?;
        }
        report(
            &format!("bare commit, synchronous = {synchronous}"),
            rows,
            since,
        );
    }
    Ok(())
}

pub(crate) async fn postgres(rows: u32, connection: &str) -> Result<()> {
    let connect = async || {
        let (client, line) = tokio_postgres::connect(connection, NoTls).await?;
        // It ends with its client.
        tokio::spawn(line);
        anyhow::Ok(client)
    };
    let table = "CREATE TABLE bare (id bigserial PRIMARY KEY, value bytea)";
    connect().await?.batch_execute(table).await?;
    for callers in [1, 8] {
        let mut set = JoinSet::new();
        let mut clients = Vec::new();
        for _ in 0..callers {
            clients.push(connect().await?);
        }
        let since = Instant::now();
        for client in clients {
            set.spawn(async move {
                let insert = client
                    .prepare("INSERT INTO bare (value) VALUES ($1)")
                    .await?;
                for _ in 0..rows / callers {
                    client.execute(&insert, &[&&VALUE[..]]).await?;
                }
                anyhow::Ok(())
            });
        }
        for done in set.join_all().await {
            done?;
        }
        report(&format!("bare commit, {callers} at once"), rows, since);
    }
    Ok(())
}
