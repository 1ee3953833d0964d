//! Breaks servers while clients watch.

use anyhow::Result;

use crate::shell::{command, finish};

/// Runs both kinds of store for `seconds` each.
pub(crate) fn run(seconds: u64) -> Result<()> {
    let seconds = seconds.to_string();
    for store in ["sqlite", "postgres"] {
        let run = ["run", "--locked", "--package", "chaos", "--", "run"];
        let args = ["--store", store, "--seconds", &seconds];
        finish(command("cargo", &run).args(args))?;
    }
    Ok(())
}

/// Seconds for each store: enough for a few dozen crashes, short enough for
/// every change.
pub(crate) const SHORT: u64 = 30;
