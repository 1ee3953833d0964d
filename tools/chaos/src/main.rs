//! Servers that are killed, stopped and cut off from their database, while
//! clients note what was promised to them and what became of it.
//!
//! `chaos run --store postgres --seconds 60` starts everything, breaks it for a
//! while, lets it come to rest and judges. `chaos prove` does the same to engines
//! that have a flaw, each of which must be found out. Every instance is this
//! program too.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program that breaks others lives in real time and talks to a person"
)]

mod client;
mod dice;
mod effects;
mod failover;
mod http;
mod instance;
mod judge;
mod monkey;
mod prove;
mod run;
mod serve;
mod table;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use postgres_here::Commits;
use sterna_store::contract::Fault;

use crate::instance::Defects;

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
        /// How many stores behave as one
        #[arg(long, default_value_t = 1)]
        shards: usize,
        #[command(flatten)]
        length: Length,
    },
    /// Take the primary of three PostgreSQL servers away again and again, beside
    /// all other faults (needs Patroni and etcd)
    Failover {
        /// No standby is synchronous: the judge must find what is lost
        #[arg(long)]
        asynchronous: bool,
        #[command(flatten)]
        length: Length,
    },
    /// Break fleets whose engine has a flaw: each must be found out
    Prove {
        /// How long things are broken, for each flaw
        #[arg(long, default_value_t = 8)]
        seconds: u64,
    },
    /// Be one instance
    Serve {
        /// A file of SQLite, or how to reach PostgreSQL; once for each shard
        #[arg(long, required = true)]
        store: Vec<String>,
        /// Where effects are noted
        #[arg(long)]
        effects: PathBuf,
        /// What is wrong with its engine
        #[arg(long)]
        flaw: Option<Flaw>,
        /// Whether effects are claimed on a primary that a failover makes forget them
        #[arg(long)]
        may_repeat_effects: bool,
    },
}

/// What may be wrong with an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Flaw {
    BelievesZombies,
    DropsAnswers,
    ForgetsEnds,
    MixesAnswersUp,
    RunsEffectsTwice,
    SkipsCommits,
    StallsCommits,
}

impl From<Flaw> for Fault {
    fn from(flaw: Flaw) -> Self {
        match flaw {
            Flaw::BelievesZombies => Self::BelievesZombies,
            Flaw::DropsAnswers => Self::DropsAnswers,
            Flaw::ForgetsEnds => Self::ForgetsEnds,
            Flaw::MixesAnswersUp => Self::MixesAnswersUp,
            Flaw::RunsEffectsTwice => Self::RunsEffectsTwice,
            Flaw::SkipsCommits => Self::SkipsCommits,
            Flaw::StallsCommits => Self::StallsCommits,
        }
    }
}

impl Flaw {
    /// As the command line spells it.
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

#[derive(Clone, Copy, clap::Args)]
struct Length {
    /// How long things are broken
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Repeats the choices of an earlier run
    #[arg(long)]
    seed: Option<u64>,
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
            shards,
            length,
        } => run::run(store, shards, length),
        Command::Failover {
            asynchronous,
            length,
        } => run::fail_over(
            match asynchronous {
                true => Commits::OnItsOwnDisk,
                false => Commits::OnAStandby,
            },
            length,
        ),
        Command::Prove { seconds } => prove::prove(seconds),
        Command::Serve {
            store,
            effects,
            flaw,
            may_repeat_effects,
        } => {
            let defects = Defects {
                flaw,
                may_repeat_effects,
            };
            serve::serve(&store, effects, defects)
        }
    }
}
