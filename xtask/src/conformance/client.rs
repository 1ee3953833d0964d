//! Runs every client scenario against `conformance-client`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::verdict::Verdict;
use crate::node::Node;
use crate::shell::{command, finish, target_dir};

/// Successful checks that a complete run at 2026-07-28 has at least.
const MODERN_FLOOR: usize = 398;

/// How many client scenarios the suite has, over all revisions.
const SCENARIOS: usize = 48;

pub(super) fn run(node: &Node, scenario: Option<&str>) -> Result<()> {
    finish(&mut command(
        "cargo",
        &["build", "--locked", "--package", "conformance-client"],
    ))?;
    let out = target_dir().join("conformance/client");
    if let Some(scenario) = scenario {
        return alone(node, &out, scenario);
    }
    let modern = ["--suite", "all", "--spec-version", "2026-07-28"];
    let (verdict, _) = suite(node, &out.join("modern"), &modern)?;
    verdict.require(MODERN_FLOOR)?;
    let (verdict, _) = suite(node, &out.join("all"), &["--suite", "all"])?;
    verdict.require(MODERN_FLOOR)?;
    // A suite ignores the exit code of the client, so each runs alone as well.
    let scenarios = scenarios(node)?;
    ensure!(
        scenarios.len() == SCENARIOS,
        "the suite has {} client scenarios, expected {SCENARIOS}",
        scenarios.len()
    );
    scenarios
        .iter()
        .try_for_each(|scenario| alone(node, &out, scenario))
}

/// The names of all client scenarios, as the suite lists them.
fn scenarios(node: &Node) -> Result<Vec<String>> {
    let list = Command::new("conformance")
        .args(["list", "--client"])
        .env("PATH", node.path())
        .output()
        .context("cannot start the conformance suite")?;
    let list = String::from_utf8(list.stdout)?;
    let names = list.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("  - ")?.split_once(" [")?;
        Some(name.to_owned())
    });
    Ok(names.collect())
}

/// One scenario, whose exit code counts.
fn alone(node: &Node, out: &Path, scenario: &str) -> Result<()> {
    let (verdict, success) = suite(node, &out.join("alone"), &["--scenario", scenario])?;
    verdict.require(1)?;
    ensure!(
        success,
        "{scenario}: the suite was not content with the client's end, see {}",
        log(&out.join("alone")).display()
    );
    Ok(())
}

/// What the suite and the client said besides.
fn log(out: &Path) -> PathBuf {
    out.with_extension("log")
}

fn suite(node: &Node, out: &Path, args: &[&str]) -> Result<(Verdict, bool)> {
    if out.exists() {
        std::fs::remove_dir_all(out)?;
    }
    std::fs::create_dir_all(out)?;
    let status = Command::new("conformance")
        .args(["client", "--timeout", "60000", "--command"])
        .arg(target_dir().join("debug/conformance-client"))
        .arg("-o")
        .arg(out)
        .args(args)
        .env("PATH", node.path())
        .stdout(Stdio::null())
        .stderr(File::create(log(out))?)
        .status()
        .context("cannot start the conformance suite")?;
    let verdict = Verdict::read(out)?;
    println!(
        "conformance client {}: {verdict} ({status})",
        args.join(" ")
    );
    Ok((verdict, status.success()))
}
