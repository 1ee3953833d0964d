//! Running other programs, with the command line in every error.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn workspace_root() -> PathBuf {
    // As `cargo run` says it: a binary that another checkout left in a shared
    // target folder has that checkout's path built in.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask
        .parent()
        .expect("xtask lives one level below the workspace root")
        .to_owned()
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace_root().join("target"), PathBuf::from)
}

/// A command that runs in the workspace root.
///
/// It does not see the variables that cargo sets for `xtask`: the build script of
/// `ring` reads some of them, so a build that sees them shares nothing with one
/// that a developer or a test starts.
pub(crate) fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(workspace_root());
    for (name, _) in std::env::vars_os() {
        let is_of_xtask = name.to_str().is_some_and(|name| {
            let prefixes = ["CARGO_BIN_", "CARGO_MANIFEST_", "CARGO_PKG_"];
            prefixes.iter().any(|prefix| name.starts_with(prefix))
        });
        if is_of_xtask {
            command.env_remove(name);
        }
    }
    command
}

/// Runs `command` to its end and fails if it failed.
pub(crate) fn finish(command: &mut Command) -> Result<()> {
    let line = format!("{command:?}");
    println!("$ {line}");
    let status = command
        .status()
        .with_context(|| format!("cannot start {line}"))?;
    ensure!(status.success(), "{line} ended with {status}");
    Ok(())
}

/// Whether `program args` can be started and succeeds.
pub(crate) fn works(program: &str, args: &[&str]) -> bool {
    command(program, args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether this run guards a merge: then a missing tool is an error.
pub(crate) fn under_ci() -> bool {
    std::env::var_os("CI").is_some()
}
