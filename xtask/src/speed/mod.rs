//! How fast the server is: against others, and against itself.

mod bench;
mod build;
mod callgrind;

use std::path::PathBuf;

use anyhow::Result;

use crate::shell::{command, finish, target_dir, workspace_root};

pub(crate) use bench::run as bench;
pub(crate) use build::{run as bench_build, workspace as bench_workspace};
pub(crate) use callgrind::run as callgrind;

/// Measures tasks on both stores, with `options` for the harness.
pub(crate) fn bench_tasks(options: &[String]) -> Result<()> {
    let args = ["run", "--release", "--locked", "-p", "bench-tasks", "--"];
    finish(command("cargo", &args).args(options))
}

/// Builds our server.
fn build_ours() -> Result<PathBuf> {
    let args = [
        "build",
        "--profile",
        PROFILE,
        "--locked",
        "-p",
        "bench-sterna",
    ];
    finish(&mut command("cargo", &args))?;
    Ok(target_dir().join(PROFILE).join("bench-sterna"))
}

/// Builds what `args` name in the workspace of those we are compared with, and
/// returns the folder it is in.
fn build_others(args: &[&str]) -> Result<PathBuf> {
    let target = target_dir().join("bench");
    finish(
        command("cargo", &["build", "--release", "--locked"])
            .args(args)
            .current_dir(workspace_root().join("bench"))
            .env("CARGO_TARGET_DIR", &target),
    )?;
    Ok(target.join("release"))
}

/// How a server is built that is to be fast.
const PROFILE: &str = "production";
