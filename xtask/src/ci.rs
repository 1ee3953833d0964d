//! Everything that must hold before a change lands, cheapest first.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::fuzz::Start;
use crate::lambda::Profile;
use crate::shell::{command, finish};
use crate::speed::CountFor;
use crate::{
    book, chaos, conformance, deny, external_types, faults, fuzz, interop, lambda, release, speed,
    test, tidy, wasm,
};

pub(crate) fn run() -> Result<()> {
    stage("fmt", || cargo(&["fmt", "--all", "--check"]))?;
    stage("tidy", tidy::run)?;
    stage("deny", deny::run)?;
    stage("advisories", deny::advisories)?;
    stage("clippy", || {
        cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ])
    })?;
    stage("docs", || {
        finish(
            command("cargo", &["doc", "--workspace", "--no-deps", "--locked"])
                .env("RUSTDOCFLAGS", "-D warnings"),
        )
    })?;
    stage("book", book::run)?;
    stage("external types", external_types::run)?;
    stage("features", release::features)?;
    stage("rust-version", release::oldest_compiler)?;
    stage("wasm", wasm::run)?;
    stage("tests", test::run)?;
    stage("hosts", interop::hosts)?;
    stage("lambda", || lambda::run(Profile::Debug))?;
    stage("packages", release::packages)?;
    stage("instructions", || speed::callgrind(CountFor::Comparison))?;
    stage("faults", || faults::run(None, false))?;
    stage("conformance", || conformance::run(None, None))?;
    stage("chaos", || chaos::run(chaos::SHORT))?;
    stage("fuzz", || fuzz::run(fuzz::SHORT, None, Start::Afresh))
}

fn cargo(args: &[&str]) -> Result<()> {
    finish(&mut command("cargo", args))
}

/// Runs one stage and says how long it took, so that a slow one is seen.
fn stage(name: &str, body: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("== {name}");
    #[expect(clippy::disallowed_methods, reason = "measures a stage for the reader")]
    let start = Instant::now();
    body().with_context(|| format!("stage {name}"))?;
    println!("== {name} ok in {:.0?}", start.elapsed());
    Ok(())
}
