//! Runs every server scenario against `conformance-server`.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::verdict::Verdict;
use crate::listening::Listening;
use crate::node::Node;
use crate::shell::{command, finish, target_dir};

/// For every revision, how many successful checks a complete run has at least.
const FLOORS: [(&str, usize); 4] = [
    ("2026-07-28", 152),
    ("2025-11-25", 80),
    ("2025-06-18", 56),
    ("2025-03-26", 3),
];

/// The same for the run of everything, which adds the extensions.
const ALL_FLOOR: usize = 272;

pub(super) fn run(node: &Node, scenario: Option<&str>) -> Result<()> {
    finish(&mut command(
        "cargo",
        &["build", "--locked", "--package", "conformance-server"],
    ))?;
    let out = target_dir().join("conformance/server");
    std::fs::create_dir_all(&out)?;
    let mut server = Command::new(target_dir().join("debug/conformance-server"));
    // Its handlers fail and panic on purpose: what it says would bury the verdict.
    server
        .args(["--listen", "127.0.0.1:0"])
        .stderr(File::create(out.with_extension("log"))?);
    let server = Listening::start(&mut server)?;
    if let Some(scenario) = scenario {
        let verdict = suite(node, &server, &out, &["--scenario", scenario])?;
        return verdict.require(1);
    }
    for (revision, floor) in FLOORS {
        let args = ["--suite", "all", "--spec-version", revision];
        suite(node, &server, &out.join(revision), &args)?.require(floor)?;
    }
    suite(node, &server, &out.join("all"), &["--suite", "all"])?.require(ALL_FLOOR)
}

fn suite(node: &Node, server: &Listening, out: &Path, args: &[&str]) -> Result<Verdict> {
    if out.exists() {
        std::fs::remove_dir_all(out)?;
    }
    let status = Command::new("conformance")
        .args(["server", "--url", server.url(), "-o"])
        .arg(out)
        .args(args)
        .env("PATH", node.path())
        .stdout(Stdio::null())
        .status()
        .context("cannot start the conformance suite")?;
    let verdict = Verdict::read(out)?;
    println!(
        "conformance server {}: {verdict} ({status})",
        args.join(" ")
    );
    Ok(verdict)
}
