//! The long form of everything that has one.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};

use crate::fuzz::Start;
use crate::shell::{command, finish};
use crate::{chaos, flow, fuzz};

/// Spends about `minutes`, and whatever it takes to build for release, on what
/// finds more the longer it runs. One that has found something does not keep
/// the others from running.
pub(crate) fn run(minutes: u64, seed: Option<u64>) -> Result<()> {
    let seed = seed.unwrap_or_else(fresh_seed);
    println!("soak: {minutes} minutes, --seed {seed}");
    let share = minutes * 60 / 6;
    let mut found = Vec::new();
    // Whoever has a long form adds a line here, and a share above.
    let parts: [(&str, &dyn Fn() -> Result<()>); 5] = [
        ("flow", &|| programs(share, seed)),
        ("fleet", &|| fleet(share)),
        ("load", &|| load(share)),
        ("chaos", &|| chaos::run(share / 2)),
        ("fuzz", &|| inputs(2 * share)),
    ];
    for (name, run) in parts {
        println!("== {name}");
        if let Err(error) = run() {
            println!("== {name}: {error:?}");
            found.push(name);
        }
    }
    ensure!(found.is_empty(), "found something: {}", found.join(", "));
    Ok(())
}

/// Random programs for the flow engine, other ones all the time.
fn programs(seconds: u64, mut seed: u64) -> Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a soak is measured by the clock on the wall"
    )]
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        flow::run(BATCH, seed)?;
        seed += BATCH;
    }
    Ok(())
}

/// Fleets on a bad network, with another seed each.
fn fleet(seconds: u64) -> Result<()> {
    let run = ["run", "--locked", "--release", "--package"];
    let fleet = ["fleet-simulation", "--", "--seconds", &seconds.to_string()];
    finish(command("cargo", &run).args(fleet))
}

/// Callers and listeners by the thousand, then too many, then the end.
fn load(seconds: u64) -> Result<()> {
    let run = ["run", "--locked", "--release", "--package"];
    let load = ["hardening", "--", "load", "--seconds"];
    finish(command("cargo", &run).args(load).arg(seconds.to_string()))
}

/// Every fuzz target, all with the same share of the time.
fn inputs(seconds: u64) -> Result<()> {
    let batches = fuzz::names()?.len().div_ceil(fuzz::AT_ONCE);
    let each = seconds / u64::try_from(batches)?.max(1);
    fuzz::run(u32::try_from(each)?.max(1), None, Start::Onwards)
}

/// Another one each time, and small enough to be typed.
fn fresh_seed() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "any number will do, if it is another one each time"
    )]
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() * BATCH)
}

/// How many programs are run before the clock is looked at.
const BATCH: u64 = 20_000;
