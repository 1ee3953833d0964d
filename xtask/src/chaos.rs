//! Breaks servers while clients watch.

use anyhow::Result;

use crate::shell::{command, finish};

/// Sees that the oracle finds flaws out, then runs both kinds of store, and two
/// databases as one, for `seconds` each.
pub(crate) fn run(seconds: u64) -> Result<()> {
    let chaos = |args: &[&str]| {
        let run = ["run", "--locked", "--package", "chaos", "--"];
        finish(command("cargo", &run).args(args))
    };
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

/// Seconds for each store: enough for a few dozen crashes, short enough for
/// every change.
pub(crate) const SHORT: u64 = 30;
