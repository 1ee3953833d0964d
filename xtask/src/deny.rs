//! What other people's code brings along: licences, duplicates, sources and
//! known holes.

use std::process::Stdio;

use anyhow::{Result, bail};

use crate::shell::{command, finish, under_ci, works};

/// Checks everything that can be checked without asking anybody.
pub(crate) fn run() -> Result<()> {
    if is_missing()? {
        return Ok(());
    }
    let check = ["deny", "--locked", "check", "--hide-inclusion-graph"];
    finish(command("cargo", &check).args(["bans", "licenses", "sources"]))
}

/// Looks for known holes, in a list that has to be fetched. A machine that
/// cannot fetch it says so and goes on: the list is not ours to keep.
pub(crate) fn advisories() -> Result<()> {
    if is_missing()? {
        return Ok(());
    }
    let fetched = command("cargo", &["deny", "--locked", "fetch", "db"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !fetched.success() {
        println!("NOT CHECKED: known holes, the list of RustSec cannot be fetched from here");
        return Ok(());
    }
    let check = ["deny", "--locked", "--offline", "check", "advisories"];
    finish(&mut command("cargo", &check))
}

fn is_missing() -> Result<bool> {
    if works("cargo", &["deny", "--version"]) {
        return Ok(false);
    }
    if under_ci() {
        bail!("cargo-deny is missing: cargo install --locked cargo-deny");
    }
    println!("skipped: licences, duplicates and known holes, install cargo-deny");
    Ok(true)
}
