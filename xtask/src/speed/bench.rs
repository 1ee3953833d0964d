//! Everybody under the same load.

use std::path::PathBuf;

use anyhow::Result;

use super::{Allocator, build_others, build_ours};
use crate::shell::{command, finish, target_dir, works, workspace_root};

/// Builds every server that can be built here and hands them to the harness,
/// with `options` for it.
pub(crate) fn run(options: &[String]) -> Result<()> {
    let mimalloc = build_ours(Allocator::Mimalloc)?;
    let ours = build_ours(Allocator::System)?;
    let others = build_others(&["--features", "rmcp"])?;
    let rust = |name: &str| others.join(name).display().to_string();
    let mut servers = vec![
        format!("limit={}", rust("limit")),
        format!("sterna={}", ours.display()),
        format!("sterna-mimalloc={}", mimalloc.display()),
        format!("axum={}", rust("bare_axum")),
        format!("rmcp={}", rust("rmcp")),
    ];
    if let Some(folder) = typescript()? {
        let server = folder.join("server.mjs");
        servers.push(format!("typescript=node {}", server.display()));
    }
    if let Some(folder) = python()? {
        let server = workspace_root().join("bench/python/server.py");
        let python = folder.join("bin/python");
        servers.push(format!("python={} {}", python.display(), server.display()));
    }
    let json = target_dir().join("bench.json").display().to_string();
    let harness = rust("bench");
    finish(
        command(
            &harness,
            &["compare", "--json", &json, "--svg", "docs/performance.svg"],
        )
        .args(options)
        .args(servers),
    )?;
    let ours = ours.display().to_string();
    finish(&mut command(&harness, &["growth", &ours]))?;
    super::bench_route(&[])
}

/// The TypeScript SDK, installed below `target/`.
fn typescript() -> Result<Option<PathBuf>> {
    let modern = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";
    if !works("node", &["-e", modern]) || !works("npm", &["--version"]) {
        println!("skipped: the TypeScript SDK, install Node.js 20 or newer");
        return Ok(None);
    }
    let folder = target_dir().join("bench-node");
    std::fs::create_dir_all(&folder)?;
    for file in ["package.json", "package-lock.json", "server.mjs"] {
        let source = workspace_root().join("bench/node").join(file);
        std::fs::copy(source, folder.join(file))?;
    }
    finish(command("npm", &["ci", "--no-audit", "--no-fund"]).current_dir(&folder))?;
    Ok(Some(folder))
}

/// The Python SDK, installed below `target/`.
fn python() -> Result<Option<PathBuf>> {
    if !works("python3", &["-m", "venv", "--help"]) {
        println!("skipped: the Python SDK, install Python with venv");
        return Ok(None);
    }
    let folder = target_dir().join("bench-python");
    let path = folder.display().to_string();
    finish(&mut command("python3", &["-m", "venv", &path]))?;
    let pip = folder.join("bin/pip").display().to_string();
    let wanted = "bench/python/requirements.txt";
    finish(&mut command(&pip, &["install", "-q", "-r", wanted]))?;
    Ok(Some(folder))
}
