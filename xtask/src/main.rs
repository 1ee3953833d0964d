//! `cargo xtask`: everything that checks, tests or measures the workspace.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to a person"
)]

mod chaos;
mod ci;
mod conformance;
mod fuzz;
mod node;
mod shell;
mod test;
mod tidy;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "All automation of the workspace")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Kill, stop and cut off servers while clients watch (needs PostgreSQL)
    Chaos {
        /// How long each store is tormented; half a minute unless said otherwise
        #[arg(long)]
        minutes: Option<u64>,
    },
    /// Run every check that guards a change: fmt, clippy, tidy, docs, tests
    Ci,
    /// Run the official conformance suite against our fixtures (needs npm)
    Conformance {
        /// Only this scenario
        #[arg(long)]
        scenario: Option<String>,
    },
    /// Run the fuzz targets for a while (needs a nightly toolchain and cargo-fuzz)
    Fuzz {
        /// How long each target runs
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Only this target
        target: Option<String>,
    },
    /// Run every test, starting by itself what the tests need
    Test,
    /// Check the house rules that the compiler cannot check
    Tidy,
}

fn main() -> Result<()> {
    match Args::parse().task {
        Task::Chaos { minutes } => chaos::run(minutes.map_or(chaos::SHORT, |minutes| minutes * 60)),
        Task::Ci => ci::run(),
        Task::Conformance { scenario } => conformance::run(scenario.as_deref()),
        Task::Fuzz { seconds, target } => fuzz::run(seconds, target.as_deref()),
        Task::Test => test::run(),
        Task::Tidy => tidy::run(),
    }
}
