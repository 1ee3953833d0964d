//! Fuzzing of everything that reads a stranger's bytes.

use anyhow::{Context, Result, ensure};

use crate::shell::{command, finish, under_ci, works, workspace_root};

pub(crate) fn run(seconds: u32, only: Option<&str>) -> Result<()> {
    if !works("cargo", &["+nightly", "fuzz", "--version"]) {
        ensure!(
            !under_ci(),
            "cargo-fuzz is missing: cargo install cargo-fuzz"
        );
        println!("skipped: fuzzing, install a nightly toolchain and cargo-fuzz");
        return Ok(());
    }
    for target in targets()? {
        if only.is_none_or(|only| only == target) {
            run_target(&target, seconds)?;
        }
    }
    Ok(())
}

fn run_target(target: &str, seconds: u32) -> Result<()> {
    finish(&mut command(
        "cargo",
        &[
            "+nightly",
            "fuzz",
            "run",
            target,
            "--",
            &format!("-max_total_time={seconds}"),
            "-timeout=10",
            "-rss_limit_mb=1024",
        ],
    ))
}

fn targets() -> Result<Vec<String>> {
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
