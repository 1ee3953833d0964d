//! Breaks servers while clients watch.

use anyhow::Result;

use crate::shell::{command, finish};

/// Sees that the oracle finds flaws out, then runs both kinds of store, and two
/// databases as one, for `seconds` each.
pub(crate) fn run(seconds: u64) -> Result<()> {
    chaos(&["prove"])?;
    let seconds = seconds.to_string();
    for (store, shards) in [("sqlite", "1"), ("postgres", "1"), ("postgres", "2")] {
        chaos(&[
            "run",
            "--store",
            store,
            "--shards",
            shards,
            "--seconds",
            &seconds,
        ])?;
    }
    Ok(())
}

/// Takes the primary of three PostgreSQL servers away for `seconds`, then sees that
/// the judge finds what asynchronous standbys lose.
pub(crate) fn fail_over(seconds: u64) -> Result<()> {
    chaos(&["failover", "--seconds", &seconds.to_string()])?;
    let long_enough = LOSSES.to_string();
    chaos(&["failover", "--asynchronous", "--seconds", &long_enough])
}

fn chaos(args: &[&str]) -> Result<()> {
    let run = ["run", "--locked", "--package", "chaos", "--"];
    finish(command("cargo", &run).args(args))
}

/// Seconds for each store: enough for a few dozen crashes, short enough for
/// every change.
pub(crate) const SHORT: u64 = 30;

/// Seconds in which the primary is taken away unless said otherwise.
pub(crate) const FAILOVERS: u64 = 600;

/// Seconds with asynchronous standbys: enough for two failovers, each of which
/// loses something.
const LOSSES: u64 = 100;
