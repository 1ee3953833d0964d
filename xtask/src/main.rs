//! `cargo xtask`: everything that checks, tests or measures the workspace.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to a person"
)]

mod book;
mod chaos;
mod ci;
mod compare;
mod conformance;
mod deny;
mod external_types;
mod faults;
mod flow;
mod fuzz;
mod interop;
mod lambda;
mod listening;
mod miri;
mod node;
mod picture;
mod release;
mod shell;
mod soak;
mod speed;
mod test;
mod tidy;
mod wasm;

use std::process::ExitCode;

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
    /// Build the files of a release: a static binary, its SBOM, checksums, the installer
    /// (needs musl-tools)
    Artifacts,
    /// Compare our server with others, under the same load; `bench route` compares a
    /// pausing route with the same route of axum alone, `bench tasks` measures tasks and
    /// compares them with those of other engines (`bench tasks compare` does only that),
    /// `bench build` the build of a small server, `bench workspace COMMIT…` that of the
    /// command and of the workspace
    Bench {
        /// What the harness is told: `--seconds 0.5`, `--rounds 1`, …
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Count the instructions of a request and fail if they have risen (needs valgrind)
    Callgrind {
        /// Keep the counts as those to compare with
        #[arg(long)]
        update: bool,
        /// Count with mimalloc as the allocator, and compare with nothing
        #[arg(long, conflicts_with = "update")]
        mimalloc: bool,
    },
    /// Kill, stop and cut off servers while clients watch (needs PostgreSQL)
    Chaos {
        /// How long each store is tormented; half a minute unless said otherwise
        #[arg(long)]
        minutes: Option<u64>,
        /// Take the primary of three PostgreSQL servers away again and again, for ten
        /// minutes unless said otherwise (needs Patroni and etcd)
        #[arg(long)]
        failover: bool,
    },
    /// Run every check that guards a change: fmt, clippy, tidy, docs, tests
    Ci,
    /// Call the servers of examples/compare, written with four SDKs (needs npm, PyPI and crates.io)
    Compare,
    /// Run the official conformance suite against our fixtures (needs npm)
    Conformance {
        /// Only this part
        part: Option<conformance::Part>,
        /// Only this scenario of the part
        #[arg(long, requires = "part")]
        scenario: Option<String>,
    },
    /// Check licences, duplicates, sources and known holes (needs cargo-deny)
    Deny,
    /// Check that public signatures show types of a few crates only
    ExternalTypes,
    /// Break the product in every way of `faults/` and see our tests notice
    Faults {
        /// Only this one
        #[arg(long)]
        only: Option<String>,
        /// Run every test with it on, and name those that fail
        #[arg(long, requires = "only")]
        search: bool,
    },
    /// Run random programs against the flow engine, in release mode
    Flow {
        /// How many programs; the tests run 20,000
        #[arg(long, default_value_t = 1_000_000)]
        programs: u64,
        /// Where to begin, so that another run sees other programs
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Run the fuzz targets for a while (needs a nightly toolchain and cargo-fuzz)
    Fuzz {
        /// How long each target runs
        #[arg(long, default_value_t = fuzz::SHORT)]
        seconds: u32,
        /// Go on from what earlier runs found, with other chances
        #[arg(long)]
        onwards: bool,
        /// Only this target
        target: Option<String>,
    },
    /// Run our server and client against those of other SDKs (needs npm, PyPI and crates.io)
    Interop {
        /// Only this SDK, or `hosts`: their client by what `sterna install` writes
        peer: Option<String>,
    },
    /// Run the example for AWS Lambda, built for release, and print its figures
    /// (needs PostgreSQL)
    Lambda,
    /// Count the lines of the servers of examples/compare, for the table of the guide
    Lines,
    /// Run the core's tests in Miri (needs a nightly toolchain with it)
    Miri,
    /// Play the demo and draw it for the README
    Picture,
    /// Walk the checklist of a release: versions, changelog, features, rust-version, packages
    Release,
    /// Run the long form of everything that has one
    Soak {
        /// How long, all in all
        #[arg(long, default_value_t = 60)]
        minutes: u64,
        /// Where the random programs begin, to see a failure again
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Run every test, starting by itself what the tests need
    Test,
    /// Check the house rules that the compiler cannot check
    Tidy,
}

fn main() -> ExitCode {
    let Err(error) = run() else {
        return ExitCode::SUCCESS;
    };
    // The cause alone, as the last line: where in here it came up helps nobody.
    eprintln!("error: {error:#}");
    ExitCode::FAILURE
}

fn run() -> Result<()> {
    match Args::parse().task {
        Task::Artifacts => release::artifacts(),
        Task::Bench { options } => match options.split_first() {
            Some((what, [])) if what == "build" => speed::bench_build(),
            Some((what, commits)) if what == "workspace" => speed::bench_workspace(commits),
            Some((what, options)) if what == "route" => speed::bench_route(options),
            Some((what, options)) if what == "tasks" => speed::bench_tasks(options),
            _ => speed::bench(&options),
        },
        Task::Callgrind { update, mimalloc } => speed::callgrind(match (update, mimalloc) {
            (true, _) => speed::CountFor::Keeping,
            (false, true) => speed::CountFor::Mimalloc,
            (false, false) => speed::CountFor::Comparison,
        }),
        Task::Chaos { minutes, failover } => {
            let seconds = minutes.map(|minutes| minutes * 60);
            match failover {
                true => chaos::fail_over(seconds.unwrap_or(chaos::FAILOVERS)),
                false => chaos::run(seconds.unwrap_or(chaos::SHORT)),
            }
        }
        Task::Ci => ci::run(),
        Task::Compare => compare::run(),
        Task::Conformance { part, scenario } => conformance::run(part, scenario.as_deref()),
        Task::Deny => deny::run().and_then(|()| deny::advisories()),
        Task::ExternalTypes => external_types::run(),
        Task::Faults { only, search } => faults::run(only.as_deref(), search),
        Task::Flow { programs, seed } => flow::run(programs, seed),
        Task::Fuzz {
            seconds,
            onwards,
            target,
        } => {
            let start = match onwards {
                true => fuzz::Start::Onwards,
                false => fuzz::Start::Afresh,
            };
            fuzz::run(seconds, target.as_deref(), start)
        }
        Task::Interop { peer } => interop::run(peer.as_deref()),
        Task::Lambda => lambda::run(lambda::Profile::Release),
        Task::Lines => compare::count(),
        Task::Miri => miri::run(),
        Task::Picture => picture::run(),
        Task::Release => release::run(),
        Task::Soak { minutes, seed } => soak::run(minutes, seed),
        Task::Test => test::run(),
        Task::Tidy => tidy::run(),
    }
}
