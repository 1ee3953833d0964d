//! How fast the server is: against others, and against itself.

mod bench;
mod build;
mod callgrind;
mod route;
mod tasks;

use std::path::PathBuf;

use anyhow::Result;

use crate::shell::{command, finish, target_dir, workspace_root};

pub(crate) use bench::run as bench;
pub(crate) use build::{run as bench_build, workspace as bench_workspace};
pub(crate) use callgrind::{CountFor, run as callgrind};
pub(crate) use route::run as bench_route;
pub(crate) use tasks::run as bench_tasks;

/// Memory allocators that our server is built with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allocator {
    /// Of the C library
    System,
    /// Of the `sterna` command
    Mimalloc,
}

/// Builds our server.
fn build_ours(allocator: Allocator) -> Result<PathBuf> {
    let args = ["build", "--profile", PROFILE, "--locked"];
    let package = ["-p", "bench-sterna"];
    let folder = target_dir().join(PROFILE);
    let server = folder.join("bench-sterna");
    match allocator {
        Allocator::System => {
            finish(command("cargo", &args).args(package))?;
            Ok(server)
        }
        Allocator::Mimalloc => {
            let feature = ["--features", "bench-sterna/mimalloc"];
            finish(command("cargo", &args).args(package).args(feature))?;
            // The next build of the other one takes its place.
            let kept = folder.join("bench-sterna-mimalloc");
            std::fs::copy(server, &kept)?;
            Ok(kept)
        }
    }
}

/// Builds the pausing route, which is also the same route of axum alone.
fn build_route() -> Result<PathBuf> {
    let args = ["build", "--profile", PROFILE, "--locked"];
    finish(command("cargo", &args).args(["-p", "bench-axum"]))?;
    Ok(target_dir().join(PROFILE).join("bench-axum"))
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
