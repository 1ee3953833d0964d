//! A project that `sterna new` makes, built with what the workspace has built.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::command::{Ran, command, run};

/// A project in a folder of its own. Its dependencies are those of the checkout, in
/// the versions of the workspace, and cargo does not use the network.
pub(crate) struct Project {
    pub(crate) name: &'static str,
    folder: TempDir,
    begun: Instant,
}

impl Project {
    /// Makes a project; `flags` follow the name, split at spaces.
    #[track_caller]
    pub(crate) fn new(name: &'static str, flags: &str) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "measures what a newcomer waits for"
        )]
        let begun = Instant::now();
        let folder = TempDir::new().unwrap();
        let mut new = command();
        new.current_dir(folder.path()).args(["new", name, "--path"]);
        new.arg(workspace()).args(flags.split_whitespace());
        let ran = run(&mut new, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        let project = Self {
            name,
            folder,
            begun,
        };
        let workspace = Path::new(workspace());
        let lock = std::fs::read(workspace.join("Cargo.lock")).unwrap();
        std::fs::write(project.path().join("Cargo.lock"), lock).unwrap();
        project
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(self.name)
    }

    /// Runs cargo in the project.
    #[track_caller]
    pub(crate) fn cargo(&self, args: &[&str]) -> Ran {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(self.path()).args(args);
        build_as_the_workspace(&mut cargo);
        let ran = run(&mut cargo, "");
        assert_eq!(ran.code, 0, "cargo {args:?}: {}{}", ran.stdout, ran.stderr);
        ran
    }

    /// The program that cargo has built.
    pub(crate) fn program(&self) -> PathBuf {
        target().join("debug").join(self.name)
    }

    /// Starts the server on a free port; it ends with the value.
    #[track_caller]
    pub(crate) fn serve(&self) -> Serving {
        let mut child = Command::new(self.program())
            .current_dir(self.path())
            .env("ADDRESS", "127.0.0.1:0")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stderr = child.stderr.take().unwrap();
        BufReader::new(stderr).read_line(&mut line).unwrap();
        let (_, url) = line.trim().split_once(" listens on ").expect(&line);
        let url = url.to_owned();
        Serving { child, url }
    }

    /// `sterna dev` in the project, on a port of the test.
    pub(crate) fn dev(&self, port: u16) -> Command {
        let mut dev = command();
        dev.current_dir(self.path()).args(["dev", "--no-open"]);
        for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME"] {
            if let Some(value) = std::env::var_os(name) {
                dev.env(name, value);
            }
        }
        build_as_the_workspace(&mut dev);
        dev.env("ADDRESS", format!("127.0.0.1:{port}"));
        dev
    }

    /// Changes a source.
    #[track_caller]
    pub(crate) fn edit(&self, file: &str, old: &str, new: &str) {
        let path = self.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{old} is not in {text}");
        std::fs::write(path, text.replacen(old, new, 1)).unwrap();
    }

    /// Tells how long it took.
    pub(crate) fn done(self) {
        eprintln!("{}: {:.1?}", self.name, self.begun.elapsed());
    }
}

/// A server that is ended with the value.
pub(crate) struct Serving {
    child: Child,
    pub(crate) url: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // One that has ended by itself needs no help.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has a cargo take what the workspace has built: the same target folder and
/// profile.
fn build_as_the_workspace(cargo: &mut Command) {
    forget_the_test(cargo);
    cargo
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_TERM_COLOR", "never");
}

/// Removes the variables that cargo sets for a test: a build that sees them does
/// not reuse a build without them.
pub(crate) fn forget_the_test(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let told = name.to_str().is_some_and(|name| {
            let prefixes = ["CARGO_BIN_", "CARGO_MANIFEST_", "CARGO_PKG_", "NEXTEST"];
            prefixes.iter().any(|prefix| name.starts_with(prefix))
        });
        if told {
            command.env_remove(name);
        }
    }
}

/// Path of the checkout.
pub(crate) fn workspace() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../..")
}

/// The folder in which the workspace is built.
pub(crate) fn target() -> PathBuf {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tmp.parent().unwrap().to_owned()
}
