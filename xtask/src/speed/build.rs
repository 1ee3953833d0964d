//! The cost of builds from nothing: of the smallest server, and of the
//! workspace at different commits.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::shell::{command, finish, target_dir, workspace_root};

/// Builds the same server with ours and with the official SDK, and says what
/// each took.
pub(crate) fn run() -> Result<()> {
    let mut rows = Vec::new();
    for (name, lock) in [("sterna", "Cargo.lock"), ("rmcp", "bench/Cargo.lock")] {
        let folder = workspace_root().join("bench/small").join(name);
        // The versions that are tested, as far as they go.
        std::fs::copy(workspace_root().join(lock), folder.join("Cargo.lock"))?;
        let target = target_dir().join("small").join(name);
        let (_, cpu) = build(&folder, &[], &target)?;
        rows.push(format!("| {name} | {} | {cpu} |", crates(&folder)?));
    }
    println!("| server | crates | CPU seconds |\n|---|---|---|");
    for row in rows {
        println!("{row}");
    }
    Ok(())
}

/// Builds the command and the whole workspace for release, as they are at each
/// of `commits`, and prints what each build took.
pub(crate) fn workspace(commits: &[String]) -> Result<()> {
    let mut rows = Vec::new();
    for commit in commits {
        let folder = target_dir().join("builds").join(commit);
        check_out(commit, &folder)?;
        for what in [&["--package", "sterna-cli"][..], &["--workspace"]] {
            let (wall, cpu) = build(&folder, what, &folder.join("target"))?;
            let (what, wall) = (what.join(" "), wall.as_secs());
            rows.push(format!("| {commit} | `{what}` | {wall} | {cpu} |"));
        }
        std::fs::remove_dir_all(&folder)?;
    }
    println!("| commit | build | seconds | CPU seconds |\n|---|---|---|---|");
    for row in rows {
        println!("{row}");
    }
    Ok(())
}

/// Puts the sources of `commit` into `folder`, which is emptied first.
fn check_out(commit: &str, folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    let archive = folder.with_extension("tar");
    let pack = ["archive", "--format=tar", commit, "-o"];
    finish(command("git", &pack).arg(&archive))?;
    finish(command("tar", &["-xf"]).arg(&archive).arg("-C").arg(folder))?;
    Ok(std::fs::remove_file(archive)?)
}

/// Builds `what` in `folder` for release, with an empty `target`; returns the
/// time that passed and the seconds of CPU time.
fn build(folder: &Path, what: &[&str], target: &Path) -> Result<(Duration, u64)> {
    if target.exists() {
        std::fs::remove_dir_all(target)?;
    }
    let before = seconds_of_children()?;
    #[expect(clippy::disallowed_methods, reason = "measures a build for the reader")]
    let start = Instant::now();
    finish(
        command("cargo", &["build", "--release"])
            .args(what)
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", target),
    )?;
    Ok((start.elapsed(), seconds_of_children()? - before))
}

/// How many crates the server in `folder` is made of, itself among them.
fn crates(folder: &Path) -> Result<usize> {
    let args = ["tree", "--edges", "normal", "--prefix", "none"];
    let tree = command("cargo", &args)
        .args(["--format", "{p}"])
        .current_dir(folder)
        .output()?;
    ensure!(
        tree.status.success(),
        "cargo tree ended with {}",
        tree.status
    );
    let tree = String::from_utf8(tree.stdout)?;
    let names = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    Ok(names.collect::<BTreeSet<_>>().len())
}

/// CPU time of every process that has ended below this one.
fn seconds_of_children() -> Result<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").context("this needs Linux")?;
    // The name before it may hold anything, spaces too.
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: Vec<u64> = ticks.map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<u64>() / TICKS)
}

/// What Linux tells programs it counts in a second, whatever it does.
const TICKS: u64 = 100;
