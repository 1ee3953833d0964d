//! Every test of the workspace, on whatever machine this is.

use anyhow::{Result, bail};

use crate::shell::{command, finish, under_ci, works};

pub(crate) fn run() -> Result<()> {
    say_what_is_skipped()?;
    if works("cargo", &["nextest", "--version"]) {
        cargo(&[
            "nextest",
            "run",
            "--workspace",
            "--locked",
            "--no-tests",
            "pass",
            "--no-fail-fast",
        ])?;
        // nextest does not run documentation tests.
        cargo(&["test", "--workspace", "--doc", "--locked"])
    } else {
        cargo(&["test", "--workspace", "--locked"])
    }
}

fn cargo(args: &[&str]) -> Result<()> {
    finish(&mut command("cargo", args))
}

/// Names the tests that cannot run here and what would make them run.
fn say_what_is_skipped() -> Result<()> {
    if std::env::var_os("STERNA_SPEC_DIR").is_none() {
        let what = "the official schemas and examples, set STERNA_SPEC_DIR to a folder with schema/ and examples/";
        if under_ci() {
            bail!("missing: {what}");
        }
        println!("skipped: {what}");
    }
    Ok(())
}
