//! Runs every server scenario against `conformance-server`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::verdict::Verdict;
use crate::node::Node;
use crate::shell::{command, finish, target_dir};

/// Successful checks that a complete run at 2026-07-28 has at least.
const MODERN_FLOOR: usize = 152;

pub(super) fn run(node: &Node, scenario: Option<&str>) -> Result<()> {
    finish(&mut command(
        "cargo",
        &["build", "--locked", "--package", "conformance-server"],
    ))?;
    let server = Fixture::start()?;
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

fn suite(node: &Node, server: &Fixture, out: &Path, args: &[&str]) -> Result<Verdict> {
    if out.exists() {
        std::fs::remove_dir_all(out)?;
    }
    let status = Command::new("conformance")
        .args(["server", "--url", &server.url, "-o"])
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

/// The server under test, stopped when dropped.
struct Fixture {
    child: Child,
    url: String,
}

impl Fixture {
    fn start() -> Result<Self> {
        let binary = target_dir().join("debug/conformance-server");
        let mut child = Command::new(&binary)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let stdout = child.stdout.take().expect("stdout was piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let Some(url) = line.trim().strip_prefix("listening on ") else {
            child.kill().ok();
            bail!(
                "conformance-server said `{}` instead of its address",
                line.trim()
            );
        };
        let url = url.to_owned();
        Ok(Self { child, url })
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
