//! Fuzzing of everything that reads a stranger's bytes.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::shell::{command, finish, target_dir, under_ci, works, workspace_root};

/// Where the inputs of a run come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// The seeds in the repository and one and the same chain of chances, so
    /// that two runs see much the same.
    Afresh,
    /// Also what earlier runs found, and other chances each time.
    Onwards,
}

/// Runs every target, or the one called `only`, for `seconds`.
pub(crate) fn run(seconds: u32, only: Option<&str>, start: Start) -> Result<()> {
    if !works("cargo", &["+nightly", "fuzz", "--version"]) {
        ensure!(
            !under_ci(),
            "a nightly toolchain with cargo-fuzz is missing"
        );
        println!("skipped: fuzzing, install a nightly toolchain and cargo-fuzz");
        return Ok(());
    }
    let build = ["+nightly", "fuzz", "build", "--target-dir"];
    finish(command("cargo", &build).arg(target_dir()))?;
    let mut names = names()?;
    names.retain(|name| only.is_none_or(|only| only == name));
    ensure!(!names.is_empty(), "there is no such target");
    let mut crashed = Vec::new();
    for batch in names.chunks(AT_ONCE) {
        let running = batch.iter().map(|name| Target::start(name, seconds, start));
        let running: Vec<_> = running.collect::<Result<_>>()?;
        for target in running {
            let name = target.name.clone();
            if !target.finish()? {
                crashed.push(name);
            }
        }
    }
    if !crashed.is_empty() {
        bail!("inputs that must not stop us do: {}", crashed.join(", "));
    }
    Ok(())
}

/// A fuzz target that runs.
struct Target {
    name: String,
    log: PathBuf,
    running: std::process::Child,
}

impl Target {
    fn start(name: &str, seconds: u32, start: Start) -> Result<Self> {
        let folder = target_dir().join("fuzz").join(name);
        let corpus = folder.join("corpus");
        if start == Start::Afresh {
            std::fs::remove_dir_all(&folder).ok();
        }
        std::fs::create_dir_all(&corpus)?;
        let log = folder.join("log");
        let out = std::fs::File::create(&log)?;
        let fuzz = workspace_root().join("fuzz");
        let program = target_dir().join(format!("{HOST}/release/{name}"));
        let mut command = Command::new(program);
        command
            .arg(&corpus)
            .args(Some(fuzz.join("seeds").join(name)).filter(|seeds| seeds.is_dir()))
            .arg(format!("-dict={}", fuzz.join("json.dict").display()))
            .arg(format!("-artifact_prefix={}/", folder.display()))
            .arg(format!("-max_total_time={seconds}"))
            .args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"])
            .args((start == Start::Afresh).then_some("-seed=1"))
            .stdout(Stdio::null())
            .stderr(out);
        let running = command
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self {
            name: name.to_owned(),
            log,
            running,
        })
    }

    /// Waits for its end and says how it went, with all that it said if it
    /// found something.
    fn finish(mut self) -> Result<bool> {
        let status = self.running.wait()?;
        let log = std::fs::read(&self.log)?;
        let log = String::from_utf8_lossy(&log);
        let number = |name: &str| {
            let line = log.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or("?").trim().to_owned()
        };
        let runs = number("stat::number_of_executed_units:");
        let memory = number("stat::peak_rss_mb:");
        let name = &self.name;
        println!("{name:<12} {runs:>12} inputs, {memory:>5} MiB, {status}");
        if !status.success() {
            let lines: Vec<_> = log.lines().rev().take(LAST_WORDS).collect();
            lines.iter().rev().for_each(|line| println!("    {line}"));
            self.print_artifacts()?;
        }
        Ok(status.success())
    }

    /// Prints what was found, for whoever cannot reach this machine's files.
    fn print_artifacts(&self) -> Result<()> {
        let folder = self.log.parent().context("the log is in a folder")?;
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let is_found = path.is_file() && path != self.log;
            if is_found {
                let bytes = std::fs::read(&path)?;
                println!("    {}: {}", path.display(), bytes.escape_ascii());
            }
        }
        Ok(())
    }
}

/// The targets, by the names of their files.
pub(crate) fn names() -> Result<Vec<String>> {
    let folder = workspace_root().join("fuzz/fuzz_targets");
    let entries = std::fs::read_dir(&folder)
        .with_context(|| format!("no fuzz targets in {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Seconds for each target: what every change has time for.
pub(crate) const SHORT: u32 = 60;

/// One for each core of a small machine.
pub(crate) const AT_ONCE: usize = 2;

/// How much of a log says what went wrong.
const LAST_WORDS: usize = 60;

/// What cargo-fuzz builds for unless told otherwise.
const HOST: &str = "x86_64-unknown-linux-gnu";
