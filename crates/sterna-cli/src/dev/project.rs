use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use anyhow::{Context as _, anyhow};
use serde::Deserialize;
use tokio::process::Command;

use super::sources::{self, Snapshot};
use crate::args::DevArgs;
use crate::environment;
use crate::exit::{Exit, Failure};

/// The project that cargo finds in the current folder.
#[derive(Debug)]
pub(super) struct Project {
    /// The folder with the manifest.
    folder: PathBuf,
    /// Folders of the packages of the workspace.
    packages: Vec<PathBuf>,
    /// The binary that a package runs by default.
    default_run: Option<String>,
    /// The program of the last build that succeeded.
    built: Option<PathBuf>,
}

/// A program as it was linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    path: PathBuf,
    linked: SystemTime,
}

/// Outcome of a build.
#[derive(Debug)]
pub(super) enum Build {
    Done(Program),
    /// The compiler has said why.
    Failed,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    manifest_path: PathBuf,
    default_run: Option<String>,
}

/// A message of `cargo build`.
#[derive(Deserialize)]
struct Message {
    target: Option<Target>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

impl Project {
    pub(super) async fn here(args: &DevArgs) -> Result<Self, Failure> {
        let located = cargo_says(&["locate-project", "--message-format", "plain"]).await?;
        let manifest = PathBuf::from(located.trim());
        let folder = manifest.parent().context("the manifest has no folder")?;
        let metadata = cargo_says(&["metadata", "--no-deps", "--format-version", "1"]).await?;
        let metadata: Metadata =
            serde_json::from_str(&metadata).context("cargo metadata is not understood")?;
        let mut packages = metadata.packages.iter();
        let here = packages.find(|package| package.manifest_path == manifest);
        let default_run = here.and_then(|package| package.default_run.clone());
        let folders = metadata.packages.iter();
        let folders = folders.filter_map(|package| package.manifest_path.parent());
        Ok(Self {
            folder: folder.to_owned(),
            packages: folders.map(Path::to_owned).collect(),
            default_run: args.bin.clone().or(default_run),
            built: None,
        })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The key file of the project, if it is there.
    pub(super) fn key_file(&self) -> Option<PathBuf> {
        let file = self.folder.join(KEY_FILE);
        file.is_file().then_some(file)
    }

    /// Builds the program; the compiler writes to the terminal.
    pub(super) async fn build(&mut self, args: &DevArgs) -> Result<Build, Failure> {
        let mut build = cargo();
        build.args(["build", "--message-format", "json-render-diagnostics"]);
        if let Some(bin) = &args.bin {
            build.args(["--bin", bin]);
        }
        if args.release {
            build.arg("--release");
        }
        let building = build.stdout(Stdio::piped()).spawn().map_err(no_cargo)?;
        let output = building.wait_with_output().await?;
        if !output.status.success() {
            return Ok(Build::Failed);
        }
        let path = self.executable(&String::from_utf8_lossy(&output.stdout))?;
        let linked = fs::metadata(&path).and_then(|found| found.modified());
        let linked = linked.with_context(|| format!("{} is not there", path.display()))?;
        self.built = Some(path.clone());
        Ok(Build::Done(Program { path, linked }))
    }

    /// The one program that messages of cargo name, or the default among several.
    fn executable(&self, messages: &str) -> Result<PathBuf, Failure> {
        let mut programs = Vec::new();
        for line in messages.lines() {
            // Other messages have other fields.
            let Ok(message) = serde_json::from_str::<Message>(line) else {
                continue;
            };
            if let (Some(target), Some(executable)) = (message.target, message.executable) {
                programs.push((target.name, executable));
            }
        }
        let default = self.default_run.as_deref();
        match &programs[..] {
            [(_, only)] => Ok(only.clone()),
            [] => Err(Failure::usage("the project has no program to run")
                .hint("`sterna new` makes one that is a server")),
            several => {
                let chosen = several
                    .iter()
                    .find(|(name, _)| Some(name.as_str()) == default);
                let names: Vec<_> = several.iter().map(|(name, _)| name.as_str()).collect();
                chosen.map(|(_, path)| path.clone()).ok_or_else(|| {
                    Failure::usage("the project has several programs")
                        .hint(format!("choose one with --bin: {}", names.join(", ")))
                })
            }
        }
    }

    /// The sources as they are: those that the compiler has read for the program,
    /// and all that belong to the workspace.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for folder in self.packages.iter().chain([&self.folder]) {
            for file in ["Cargo.toml", "Cargo.lock", "build.rs", ".cargo/config.toml"] {
                snapshot.add(&folder.join(file));
            }
            snapshot.add_rust_files(&folder.join("src"));
        }
        if let Some(program) = &self.built {
            for file in sources::read_by_compiler(&program.with_extension("d")) {
                snapshot.add(&file);
            }
        }
        snapshot
    }

    /// Returns `true` if a source of the workspace has one of `words` in it.
    pub(super) fn mentions(&self, words: &[&str]) -> bool {
        let mut snapshot = Snapshot::default();
        snapshot.add_rust_files(&self.folder.join("src"));
        snapshot.paths().any(|path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            words.iter().any(|word| text.contains(word))
        })
    }
}

impl Program {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn cargo() -> Command {
    let program = environment::var("CARGO").unwrap_or_else(|| "cargo".to_owned());
    let mut cargo = Command::new(program);
    cargo.stdin(Stdio::null()).kill_on_drop(true);
    cargo
}

/// Output of cargo.
async fn cargo_says(args: &[&str]) -> Result<String, Failure> {
    let output = cargo().args(args).output().await.map_err(no_cargo)?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let failure = Failure::new(Exit::Failed, anyhow!("{said}"));
    Err(failure.hint("run this in the folder of a project; `sterna new` makes one"))
}

fn no_cargo(error: std::io::Error) -> Failure {
    let error = anyhow!(error).context("cargo cannot be started");
    Failure::new(Exit::Failed, error).hint("install Rust: https://rustup.rs")
}

pub(super) const KEY_FILE: &str = "keys.toml";
