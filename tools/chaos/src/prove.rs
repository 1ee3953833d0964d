//! Whether the oracle sees: an engine with a flaw must not pass.

use anyhow::{Result, bail};
use clap::ValueEnum as _;

use crate::Flaw;
use crate::effects::now;
use crate::run::{Breaks, Fleet};

/// Runs every flaw until it is found out. What a flaw does depends on when
/// things break, so it may take more than one run.
pub(crate) fn prove(seconds: u64) -> Result<()> {
    for flaw in Flaw::value_variants().iter().copied() {
        let mut runs = 0;
        let found = (0..MOST_RUNS).find_map(|_| {
            runs += 1;
            run(flaw, seconds).transpose()
        });
        match found.transpose()? {
            // A number that creeps up is a proof that is going to fail.
            Some(found) => println!(
                "chaos: an engine that {} is found out in run {runs}: {found}",
                flaw.name()
            ),
            None => bail!(
                "an engine that {} was not found out in {MOST_RUNS} runs",
                flaw.name()
            ),
        }
    }
    Ok(())
}

/// What is found out about an engine with `flaw`, if anything is.
fn run(flaw: Flaw, seconds: u64) -> Result<Option<String>> {
    let folder = tempfile::tempdir()?;
    let store = folder.path().join("tasks.db").display().to_string();
    // Two of them on one file, so that one can be stopped and overtaken.
    let fleet = Fleet {
        count: 2,
        stores: &[store],
        breaks: Breaks::Everything(&[]),
        flaw: Some(flaw),
    };
    let (kept, _) = fleet.torment(folder.path(), seconds, now())?;
    Ok(kept.err().map(|found| found.to_string()))
}

const MOST_RUNS: u32 = 8;
