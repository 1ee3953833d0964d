//! Checks of the shipped crates as their users get them: each feature alone,
//! the oldest supported compiler, and the packages for crates.io.

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use cargo_metadata::{Metadata, MetadataCommand, Package};

use crate::shell::{command, finish, under_ci, works, workspace_root};

/// Checks every crate that has features without any, and with each of them alone.
///
/// Workspace builds unify features, so they cannot see a feature that lacks
/// one of its dependencies.
pub(crate) fn features() -> Result<()> {
    let metadata = metadata()?;
    for package in shipped(&metadata) {
        if package.features.is_empty() {
            continue;
        }
        check_alone(package, "")?;
        let features = package.features.keys().filter(|name| *name != "default");
        for feature in features {
            check_alone(package, feature)?;
        }
    }
    Ok(())
}

fn check_alone(package: &Package, feature: &str) -> Result<()> {
    let check = ["check", "--locked", "--no-default-features"];
    finish(
        command("cargo", &check)
            .args(["--package", &package.name])
            .args(["--features", feature]),
    )
}

/// Builds with the `rust-version` of the manifests.
///
/// If that is the compiler in use, every other stage has done so.
pub(crate) fn oldest_compiler() -> Result<()> {
    let metadata = metadata()?;
    let mut promised = shipped(&metadata).map(|package| &package.rust_version);
    let oldest = promised.next().context("no crate is shipped")?;
    let oldest = oldest.as_ref().context("no `rust-version`")?;
    ensure!(
        promised.all(|version| version.as_ref() == Some(oldest)),
        "the shipped crates differ in `rust-version`"
    );
    if compiler()? == *oldest {
        println!("rust-version {oldest} is the compiler in use");
        return Ok(());
    }
    let toolchain = format!("+{oldest}");
    if !works("cargo", &[&toolchain, "--version"]) {
        ensure!(
            !under_ci(),
            "Rust {oldest} is missing: rustup toolchain install {oldest}"
        );
        println!("skipped: rust-version, rustup toolchain install {oldest}");
        return Ok(());
    }
    let mut check = command("cargo", &[&toolchain, "check", "--locked"]);
    for package in shipped(&metadata) {
        check.args(["--package", &package.name]);
    }
    finish(&mut check)
}

/// The version of the compiler in use, without the name of a channel.
fn compiler() -> Result<cargo_metadata::semver::Version> {
    let told = command("rustc", &["--version"]).output()?;
    let told = String::from_utf8(told.stdout)?;
    let version = told.split_whitespace().nth(1).context("no version")?;
    let version = version.split('-').next().unwrap_or(version);
    Ok(version.parse()?)
}

/// Packages every shipped crate and builds it from its package.
pub(crate) fn packages() -> Result<()> {
    let metadata = metadata()?;
    let mut package = command("cargo", &["package", "--locked", "--allow-dirty"]);
    // As the workspace builds, so that what is built already is not built anew.
    package.env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    let mut missing = String::new();
    for shipped in shipped(&metadata) {
        package.args(["--package", &shipped.name]);
        let folder = shipped.manifest_path.parent().context("no folder")?;
        for file in FILES {
            if !folder.join(file).is_file() {
                writeln!(missing, "{folder}/{file} is missing")?;
            }
        }
    }
    ensure!(missing.is_empty(), "{missing}");
    finish(&mut package)
}

/// Files that every package has.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// The crates that are published, in the order of the workspace.
pub(crate) fn shipped(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    let packages = metadata.workspace_packages().into_iter();
    packages.filter(|package| package.publish.as_ref().is_none_or(|to| !to.is_empty()))
}

pub(crate) fn metadata() -> Result<Metadata> {
    let mut command = MetadataCommand::new();
    command
        .manifest_path(workspace_root().join("Cargo.toml"))
        .no_deps();
    Ok(command.exec()?)
}
