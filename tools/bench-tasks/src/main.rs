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
mod client;
mod commits;
mod compare;
mod crowd;
mod engine;
mod front;
mod place;
mod recovery;
mod shards;

use std::time::Instant;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use place::Place;
use postgres_here::Postgres;

#[derive(Parser)]
#[command(about = "Measures tasks on SQLite and PostgreSQL")]
struct Program {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    args: Args,
}

#[derive(Subcommand)]
enum Command {
    /// Measure whole tasks beside those of other engines
    Compare {
        #[command(flatten)]
        args: compare::Args,
    },
    /// Be the process that is killed while it has tasks in hand
    #[command(hide = true)]
    Hold {
        #[command(flatten)]
        place: Place,
        /// How many tasks
        #[arg(long)]
        open: u32,
    },
}

#[derive(Clone, clap::Args)]
struct Args {
    /// Measure only whole tasks on these numbers of PostgreSQL servers as one store
    #[arg(long, value_delimiter = ',')]
    shards: Vec<usize>,
    /// Only this store
    #[arg(long)]
    store: Option<Kind>,
    /// How many tasks are created, stepped and finished
    #[arg(long, default_value_t = 5000)]
    tasks: u32,
    /// How many tasks wait for an answer at once
    #[arg(long, default_value_t = 100_000)]
    waiting: u32,
    /// Measure only the tasks that wait
    #[arg(long)]
    only_waiting: bool,
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
    let Program { command, args } = Program::parse();
    match command {
        Some(Command::Compare { args }) => return compare::measure(&args).await,
        Some(Command::Hold { place, open }) => return recovery::hold(&place, open).await,
        None => {}
    }
    if !args.shards.is_empty() {
        return shards::measure(&args.shards, args.tasks).await;
    }
    if args.store != Some(Kind::Postgres) {
        on_sqlite(&args).await?;
    }
    if args.store != Some(Kind::Sqlite) {
        on_postgres(&args).await?;
    }
    Ok(())
}

async fn on_sqlite(args: &Args) -> Result<()> {
    println!("SQLite, one file");
    let folder = tempfile::tempdir()?;
    if !args.only_waiting {
        bare::sqlite(args.tasks)?;
    }
    measure(args, |name| Place {
        store: folder.path().join(name).display().to_string(),
        schema: None,
    })
    .await
}

async fn on_postgres(args: &Args) -> Result<()> {
    let Some(server) = Postgres::start("fsync = on")? else {
        println!("skipped: PostgreSQL, install it");
        return Ok(());
    };
    println!("PostgreSQL over a socket");
    let connection = server.connection();
    if !args.only_waiting {
        bare::postgres(args.tasks, &connection).await?;
    }
    measure(args, |name| Place {
        store: connection.clone(),
        schema: Some(name.to_owned()),
    })
    .await
}

async fn measure(args: &Args, place: impl Fn(&str) -> Place) -> Result<()> {
    if args.only_waiting {
        return crowd::measure(&place("crowd"), args.waiting).await;
    }
    for (name, callers) in [("one", 1), ("many", 32)] {
        commits::measure(place(name).open().await?, args.tasks, callers).await?;
    }
    engine::measure(place("engine").open().await?, args.tasks).await?;
    engine::measure_walks(place("walks").open().await?).await?;
    recovery::measure(&place("recovery"), args.open).await?;
    crowd::measure(&place("crowd"), args.waiting).await
}

/// One line: how many of `what` in a second.
fn report(what: &str, count: u32, since: Instant) {
    let rate = f64::from(count) / since.elapsed().as_secs_f64();
    println!("{what:<52} {rate:>10.0} /s");
}
