//! The tests of the copy, built once and run with one fault at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::Message;

use super::list::{Fault, TestName};
use crate::shell::{command, target_dir};

/// Test binaries by the name that nextest gives them.
pub(super) struct Suite(BTreeMap<String, Binary>);

struct Binary {
    program: PathBuf,
    folder: PathBuf,
}

/// What became of a test.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ran {
    Failed(String),
    Hung,
    Passed(String),
}

impl Suite {
    /// Builds the tests of `packages` in the workspace at `tree`.
    pub(super) fn build(tree: &Path, packages: &BTreeSet<&str>) -> Result<Self> {
        let mut cargo = command(
            "cargo",
            &["test", "--no-run", "--locked", "--lib", "--tests"],
        );
        cargo
            .arg("--message-format=json-render-diagnostics")
            .current_dir(tree)
            // Beside what was built before: crates of others are not built again.
            .env("CARGO_TARGET_DIR", target_dir())
            // Cargo names what it builds after a crate's path in its workspace, and
            // judges by times whether it is fresh: without a name of its own the copy
            // is taken for the checkout, and its faults are not built. A wrapper is
            // part of the names of this workspace's crates, and of no others.
            .env("RUSTC_WORKSPACE_WRAPPER", "env")
            .stdout(Stdio::piped());
        for package in packages {
            cargo.args(["--package", package]);
        }
        println!("$ {cargo:?}");
        let mut building = cargo.spawn().context("cannot start cargo")?;
        let output = building.stdout.take().context("stdout was piped")?;
        let mut binaries = BTreeMap::new();
        for message in Message::parse_stream(BufReader::new(output)) {
            let Message::CompilerArtifact(artifact) = message? else {
                continue;
            };
            let Some(program) = artifact.executable.filter(|_| artifact.profile.test) else {
                continue;
            };
            let folder = PathBuf::from(artifact.manifest_path);
            let folder = folder.parent().context("a manifest is in a folder")?;
            // A folder has exactly the name of its crate.
            let package = folder.file_name().unwrap_or_default().to_string_lossy();
            let name = match artifact.target.is_test() {
                true => format!("{package}::{}", artifact.target.name),
                false => package.into_owned(),
            };
            let binary = Binary {
                program: program.into(),
                folder: folder.to_owned(),
            };
            binaries.insert(name, binary);
        }
        ensure!(building.wait()?.success(), "the copy does not build");
        Ok(Self(binaries))
    }

    /// Runs `tests` without any fault: all must be there and pass.
    pub(super) fn check(&self, tests: &BTreeSet<&TestName>) -> Result<()> {
        let mut by_binary: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for test in tests {
            by_binary.entry(&test.binary).or_default().push(&test.test);
        }
        for (binary, tests) in by_binary {
            let mut args = vec!["--exact"];
            args.extend(&tests);
            match self.run(binary, &args, None, LONG)? {
                Ran::Passed(output) => {
                    let expected = format!("{} passed", tests.len());
                    let missing: Vec<_> = tests
                        .iter()
                        .filter(|test| !output.contains(&format!("test {test} ... ok")))
                        .collect();
                    ensure!(
                        output.contains(&expected),
                        "{binary} has no test {missing:?}"
                    );
                }
                Ran::Failed(output) => bail!("without a fault, {binary} says:\n{output}"),
                Ran::Hung => bail!("without a fault, {binary} does not end"),
            }
        }
        Ok(())
    }

    /// Runs the test that is to catch `fault`.
    pub(super) fn try_fault(&self, fault: &Fault) -> Result<Ran> {
        let TestName { binary, test } = &fault.caught_by;
        self.run(binary, &["--exact", test], Some(&fault.name), SHORT)
    }

    /// The tests that fail with `fault` on, of all there are.
    pub(super) fn search(&self, fault: &Fault) -> Result<Vec<String>> {
        let mut failed = Vec::new();
        for binary in self.0.keys() {
            match self.run(binary, &[], Some(&fault.name), LONG)? {
                Ran::Passed(_) => {}
                Ran::Hung => failed.push(format!("{binary} (does not end)")),
                Ran::Failed(output) => {
                    let lines = output.lines().filter_map(|line| {
                        let test = line.strip_prefix("test ")?;
                        test.strip_suffix(" ... FAILED")
                    });
                    failed.extend(lines.map(|test| format!("{binary} {test}")));
                }
            }
        }
        Ok(failed)
    }

    fn run(&self, name: &str, args: &[&str], fault: Option<&str>, most: Duration) -> Result<Ran> {
        let binary = self.0.get(name);
        let binary = binary.with_context(|| format!("there is no test binary {name}"))?;
        let mut command = Command::new(&binary.program);
        command
            .args(args)
            .current_dir(&binary.folder)
            .env_remove("STERNA_FAULT")
            .envs(fault.map(|fault| ("STERNA_FAULT", fault)))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut running = command.spawn()?;
        let mut stdout = running.stdout.take().context("stdout was piped")?;
        let (said, hear) = mpsc::channel();
        std::thread::spawn(move || {
            let mut output = Vec::new();
            stdout.read_to_end(&mut output).ok();
            said.send(String::from_utf8_lossy(&output).into_owned())
                .ok();
        });
        let Ok(output) = hear.recv_timeout(most) else {
            running.kill()?;
            running.wait()?;
            return Ok(Ran::Hung);
        };
        Ok(match running.wait()?.success() {
            true => Ran::Passed(output),
            false => Ran::Failed(output),
        })
    }
}

/// One test, which takes a second or two on a machine that is busy.
const SHORT: Duration = Duration::from_secs(20);

/// All tests of a binary.
const LONG: Duration = Duration::from_secs(600);
