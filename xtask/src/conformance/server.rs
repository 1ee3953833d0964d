//! Runs every server scenario against `conformance-server`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::verdict::Verdict;
use crate::listening::Listening;
use crate::node::Node;
use crate::shell::{command, finish, target_dir};

/// Successful checks that a complete run at 2026-07-28 has at least.
const MODERN_FLOOR: usize = 152;

pub(super) fn run(node: &Node, scenario: Option<&str>) -> Result<()> {
    finish(&mut command(
        "cargo",
        &["build", "--locked", "--package", "conformance-server"],
    ))?;
    let binary = target_dir().join("debug/conformance-server");
    let server = Listening::start(Command::new(binary).args(["--listen", "127.0.0.1:0"]))?;
    let out = target_dir().join("conformance/server");
    if let Some(scenario) = scenario {
        let verdict = suite(node, &server, &out, &["--scenario", scenario])?;
        return verdict.require(1);
    }
    suite(
        node,
        &server,
        &out.join("modern"),
        &["--suite", "all", "--spec-version", "2026-07-28"],
    )?
    .require(MODERN_FLOOR)?;
    suite(node, &server, &out.join("all"), &["--suite", "all"])?.require(MODERN_FLOOR)
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
