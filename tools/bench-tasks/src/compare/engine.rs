//! An engine under load.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use tokio_postgres::NoTls;

use super::load::{Kind, Load, Loaded, run};
use super::others::Other;
use super::ours::Ours;
use crate::commits::VALUE;

/// An engine, and the database that its statements are counted in.
pub(super) struct Engine {
    pub(super) name: String,
    database: Option<String>,
    program: Program,
}

impl Engine {
    pub(super) fn new(name: &str, database: Option<&str>, program: Program) -> Self {
        Self {
            name: name.to_owned(),
            database: database.map(str::to_owned),
            program,
        }
    }

    pub(super) fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    pub(super) fn knows(&self, kind: Kind) -> bool {
        match &self.program {
            Program::Bare(_) => kind == Kind::Step,
            Program::Other(other) => other.knows(kind),
            Program::Ours(_) => true,
        }
    }

    pub(super) async fn run(&mut self, load: Load) -> Result<Loaded> {
        match &mut self.program {
            Program::Bare(connection) => bare(connection, load).await,
            Program::Other(other) => tokio::task::block_in_place(|| other.run(load)),
            Program::Ours(ours) => ours.run(load).await,
        }
    }
}

/// The way in which an engine runs.
pub(super) enum Program {
    /// A row in a transaction of its own instead of a task: the limit
    Bare(String),
    Other(Other),
    Ours(Ours),
}

impl From<String> for Program {
    fn from(connection: String) -> Self {
        Self::Bare(connection)
    }
}

impl From<Other> for Program {
    fn from(other: Other) -> Self {
        Self::Other(other)
    }
}

impl From<Ours> for Program {
    fn from(ours: Ours) -> Self {
        Self::Ours(ours)
    }
}

/// Commits rows, each caller on a connection of its own.
async fn bare(connection: &str, load: Load) -> Result<Loaded> {
    let mut connections = Vec::new();
    for _ in 0..load.callers {
        let (client, line) = tokio_postgres::connect(connection, NoTls).await?;
        // It ends with its client.
        tokio::spawn(line);
        let table = "CREATE TABLE IF NOT EXISTS bare (id bigserial PRIMARY KEY, value bytea)";
        client.batch_execute(table).await?;
        let insert = client
            .prepare("INSERT INTO bare (value) VALUES ($1)")
            .await?;
        connections.push(Arc::new((client, insert)));
    }
    let commit = |caller: usize| {
        let connection = Arc::clone(&connections[caller]);
        async move {
            let since = Instant::now();
            let (client, insert) = &*connection;
            client.execute(insert, &[&&VALUE[..]]).await?;
            Ok(since.elapsed())
        }
    };
    run(load, commit).await
}
