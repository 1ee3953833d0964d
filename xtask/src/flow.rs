//! The flow engine's property test, with more programs than a test run has time for.

use anyhow::Result;

use crate::shell::{command, finish};

pub(crate) fn run(programs: u64, seed: u64) -> Result<()> {
    finish(
        command(
            "cargo",
            &[
                "test",
                "--release",
                "--package",
                "sterna-flow",
                "--lib",
                "programs_do_what_the_oracle_says",
            ],
        )
        .env("STERNA_FLOW_PROGRAMS", programs.to_string())
        .env("STERNA_FLOW_SEED", seed.to_string()),
    )
}
