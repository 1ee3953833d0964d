//! Instructions per request, which do not depend on how busy the machine is.
//!
//! The real server runs under callgrind and is asked over a socket, once a few
//! times and once many times; the difference is what the requests cost. The
//! limit, which checks nothing, is counted the same way beside it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};

use super::{Allocator, build_others, build_ours, build_route};
use crate::shell::{command, finish, target_dir, under_ci, works, workspace_root};

/// Instructions of user space, by scenario.
type Counts = BTreeMap<String, u64>;

/// Purpose of a count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountFor {
    /// Fail if the counts have risen above those in the file
    Comparison,
    /// Write them into the file
    Keeping,
    /// Print those of the server with mimalloc
    Mimalloc,
}

/// Counts the instructions of every scenario.
pub(crate) fn run(purpose: CountFor) -> Result<()> {
    if !works("valgrind", &["--version"]) {
        ensure!(!under_ci(), "valgrind is missing: install it");
        println!("skipped: instruction counts, install valgrind");
        return Ok(());
    }
    let allocator = match purpose {
        CountFor::Comparison | CountFor::Keeping => Allocator::System,
        CountFor::Mimalloc => Allocator::Mimalloc,
    };
    let server = build_ours(allocator)?.display().to_string();
    let others = build_others(&["--bin", "bench", "--bin", "limit"])?;
    let limit = others.join("limit").display().to_string();
    let harness = others.join("bench").display().to_string();
    let mut counts = Counts::new();
    println!("| scenario | instructions | limit | × limit |\n|---|---|---|---|");
    for scenario in ["plain", "plain-varied", "mrtr2", "mrtr2-varied"] {
        let bare = each(&[&limit], &harness, &format!("limit.{scenario}"), scenario)?;
        let ours = each(&[&server], &harness, scenario, scenario)?;
        print(scenario, ours, bare);
        counts.insert(scenario.to_owned(), ours);
    }
    if purpose == CountFor::Mimalloc {
        return Ok(());
    }
    let route = build_route()?.display().to_string();
    let served = |form| {
        let server = [&*route, "--route", form];
        each(&server, &harness, &format!("route.{form}"), ROUTE)
    };
    // Its limit is the same route without Sterna.
    let (bare, ours) = (served("bare")?, served("pausing")?);
    print(ROUTE, ours, bare);
    counts.insert(ROUTE.to_owned(), ours);
    let file = workspace_root().join(FILE);
    if purpose == CountFor::Keeping {
        std::fs::write(&file, serde_json::to_string_pretty(&counts)? + "\n")?;
        return Ok(());
    }
    let known: Counts = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    for (scenario, each) in &counts {
        let known = known
            .get(scenario)
            .with_context(|| format!("no {scenario} in {FILE}"))?;
        ensure!(
            each * 100 <= known * (100 + TOLERANCE),
            "{scenario} takes {each} instructions, {known} before: make it faster again, \
             or say why in the commit and run `cargo xtask callgrind --update`"
        );
    }
    Ok(())
}

fn print(scenario: &str, ours: u64, limit: u64) {
    #[expect(clippy::cast_precision_loss, reason = "two digits are printed")]
    let ratio = ours as f64 / limit as f64;
    println!("| {scenario} | {ours} | {limit} | {ratio:.2} |");
}

/// Instructions of one run of `scenario`, whose profile is kept under `name`.
fn each(server: &[&str], harness: &str, name: &str, scenario: &str) -> Result<u64> {
    let few = count(server, harness, name, scenario, FEW)?;
    let many = count(server, harness, name, scenario, MANY)?;
    Ok((many - few) / u64::from(MANY - FEW))
}

/// All instructions of a server that is asked `times` times.
fn count(server: &[&str], harness: &str, name: &str, scenario: &str, times: u32) -> Result<u64> {
    let out = target_dir().join(format!("callgrind.{name}.out"));
    let out = format!("--callgrind-out-file={}", out.display());
    let mut child = command("valgrind", &["--tool=callgrind", &out])
        .args(server)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let asked = ask(harness, &mut child, scenario, times);
    let id = child.id().to_string();
    finish(&mut command("kill", &["-INT", &id]))?;
    let mut report = String::new();
    let stderr = child.stderr.take().context("a pipe")?;
    BufReader::new(stderr).read_to_string(&mut report)?;
    child.wait()?;
    asked?;
    let collected = report
        .lines()
        .find_map(|line| line.split_once("Collected :"));
    let (_, collected) = collected.with_context(|| format!("no count in {report}"))?;
    Ok(collected.trim().parse()?)
}

fn ask(harness: &str, child: &mut Child, scenario: &str, times: u32) -> Result<()> {
    let mut line = String::new();
    let stdout = child.stdout.take().context("a pipe")?;
    BufReader::new(stdout).read_line(&mut line)?;
    let address = line
        .trim()
        .strip_prefix("listening on http://")
        .map(|line| line.strip_suffix("/mcp").unwrap_or(line))
        .with_context(|| format!("the server said {line:?}"))?;
    let times = times.to_string();
    finish(&mut command(
        harness,
        &["load", address, scenario, "--count", &times],
    ))
}

const FILE: &str = "bench/instructions.json";

/// Percent that a count may rise: what the compiler's mood and the allocator's
/// state change.
const TOLERANCE: u64 = 3;

/// Scenario of `tools/bench-axum`.
const ROUTE: &str = "route";

const FEW: u32 = 100;
const MANY: u32 = 600;
