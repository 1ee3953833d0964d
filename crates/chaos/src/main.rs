//! Servers that are killed, stopped and cut off from their database, while
//! clients note what was promised to them and what became of it.
//!
//! `chaos run --store postgres --seconds 60` starts everything, breaks it for a
//! while, lets it come to rest and judges. Every instance is this program too.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program that breaks others lives in real time and talks to a person"
)]

mod client;
mod dice;
mod effects;
mod http;
mod instance;
mod monkey;
mod postgres;
mod run;
mod serve;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

#[derive(Parser)]
#[command(about = "Breaks servers and looks at what they keep")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Break a fleet for a while, then judge
    Run {
        /// What the instances share
        #[arg(long)]
        store: StoreKind,
        /// How long things are broken
        #[arg(long, default_value_t = 30)]
        seconds: u64,
        /// Repeats the choices of an earlier run
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Be one instance
    Serve {
        /// A file of SQLite, or how to reach PostgreSQL
        #[arg(long)]
        store: String,
        /// Where effects are noted
        #[arg(long)]
        effects: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StoreKind {
    /// Three instances that share a server
    Postgres,
    /// One instance and a file
    Sqlite,
}

fn main() -> Result<()> {
    match Args::parse().command {
        Command::Run {
            store,
            seconds,
            seed,
        } => run::run(store, seconds, seed),
        Command::Serve { store, effects } => serve::serve(&store, effects),
    }
}
