//! What tasks cost, beside the bare cost of the same commits.
//!
//! `cargo run --release -p bench-tasks` starts a PostgreSQL of its own with its
//! usual durability, puts the SQLite file into the temporary folder, and prints
//! one table for each store.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measures in real time and reports to the reader"
)]

mod bare;
mod commits;
mod crowd;
mod engine;
mod front;
mod recovery;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Parser, ValueEnum};
use postgres_here::Postgres;
use sterna_store::Store;
use sterna_store_postgres::PostgresStore;
use sterna_store_sqlite::SqliteStore;

#[derive(Clone, Copy, Parser)]
#[command(about = "Measures tasks on SQLite and PostgreSQL")]
struct Args {
    /// Only this store
    #[arg(long)]
    store: Option<Kind>,
    /// How many tasks are created, stepped and finished
    #[arg(long, default_value_t = 5000)]
    tasks: u32,
    /// How many tasks wait for an answer at once
    #[arg(long, default_value_t = 100_000)]
    waiting: u32,
    /// How many tasks are open when their instance dies
    #[arg(long, default_value_t = 10_000)]
    open: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Postgres,
    Sqlite,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    if args.store != Some(Kind::Postgres) {
        on_sqlite(args).await?;
    }
    if args.store != Some(Kind::Sqlite) {
        on_postgres(args).await?;
    }
    Ok(())
}

async fn on_sqlite(args: Args) -> Result<()> {
    println!("SQLite, one file");
    let folder = tempfile::tempdir()?;
    bare::sqlite(args.tasks)?;
    measure(args, |name| {
        let path = folder.path().join(name);
        Box::pin(async move { sqlite(&path) })
    })
    .await
}

async fn on_postgres(args: Args) -> Result<()> {
    let Some(server) = Postgres::start("fsync = on")? else {
        println!("skipped: PostgreSQL, install it");
        return Ok(());
    };
    println!("PostgreSQL over a socket");
    let connection = server.connection();
    bare::postgres(args.tasks, &connection).await?;
    measure(args, |name| Box::pin(postgres(connection.clone(), name))).await
}

type Opening = std::pin::Pin<Box<dyn Future<Output = Result<Arc<dyn Store>>>>>;

async fn measure(args: Args, open: impl Fn(&'static str) -> Opening) -> Result<()> {
    for callers in [1, 32] {
        let name = if callers == 1 { "one" } else { "many" };
        commits::measure(open(name).await?, args.tasks, callers).await?;
    }
    engine::measure(open("engine").await?, args.tasks).await?;
    recovery::measure(open("recovery").await?, args.open).await?;
    crowd::measure(open("crowd").await?, args.waiting).await
}

fn sqlite(path: &Path) -> Result<Arc<dyn Store>> {
    let store = SqliteStore::open(path, sterna_store_sqlite::Config::default())?;
    Ok(Arc::new(store))
}

/// A store in a schema of its own.
async fn postgres(connection: String, name: &str) -> Result<Arc<dyn Store>> {
    let mut config = sterna_store_postgres::Config::new(&connection)?;
    config.schema = sterna_store_postgres::Schema::new(name)?;
    config.connections = 8;
    config.wait = Duration::from_secs(60);
    Ok(Arc::new(PostgresStore::connect(config).await?))
}

/// One line: how many of `what` in a second.
fn report(what: &str, count: u32, since: Instant) {
    let rate = f64::from(count) / since.elapsed().as_secs_f64();
    println!("{what:<52} {rate:>10.0} /s");
}
