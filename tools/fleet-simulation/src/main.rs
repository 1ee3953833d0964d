//! Plays seeds for as long as it is told, and says which one failed.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool lives in real time and talks to a person"
)]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use clap::Parser;
use fleet_simulation::{Fault, simulate};

/// Simulates fleets of servers on a bad network
#[derive(Parser)]
struct Args {
    /// Play this seed alone and show everything that happens
    #[arg(long, conflicts_with = "seconds")]
    seed: Option<u64>,
    /// Play new seeds for so long
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

fn main() -> Result<()> {
    let args = Args::parse();
    match args.seed {
        Some(seed) => show(seed),
        None => soak(Duration::from_secs(args.seconds)),
    }
}

fn show(seed: u64) -> Result<()> {
    let report = simulate(seed, Fault::None);
    for line in report.log {
        println!("{line}");
    }
    if !report.violations.is_empty() {
        bail!("seed {seed}: {}", report.violations.join("; "));
    }
    Ok(())
}

fn soak(time: Duration) -> Result<()> {
    let end = Instant::now() + time;
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() << 20;
    let (mut seeds, mut ended, mut unclear) = (0, 0, 0);
    while Instant::now() < end {
        let report = simulate(seed, Fault::None);
        if !report.violations.is_empty() {
            for line in report.log {
                eprintln!("{line}");
            }
            let violations = report.violations.join("; ");
            bail!("seed {seed}: {violations}; replay it with `--seed {seed}`");
        }
        seed += 1;
        seeds += 1;
        ended += report.ended;
        unclear += report.unclear;
    }
    println!("fleet: {seeds} seeds, {ended} orders ended, {unclear} of them unclear");
    Ok(())
}
