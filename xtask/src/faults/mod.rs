//! Faults that our own tests must catch: each is built in, switched on and seen
//! to make its test fail.
//!
//! The product's source knows nothing of them. They are data in `faults/`, and
//! a copy of the workspace below the target folder has all of them built in,
//! each behind an environment variable: one build serves for all.

mod list;
mod suite;
mod tree;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::shell::{target_dir, workspace_root};
use list::Fault;
use suite::{Ran, Suite};

/// Tries every fault, or the one called `only`; with `search`, names every test
/// that catches it.
pub(crate) fn run(only: Option<&str>, search: bool) -> Result<()> {
    let root = workspace_root();
    let faults = list::read(&root)?;
    let tree = target_dir().join("faults/tree");
    tree::copy(&root, &tree, &faults)?;
    let chosen = |fault: &&Fault| only.is_none_or(|only| fault.name == only);
    let chosen: Vec<_> = faults.iter().filter(chosen).collect();
    ensure!(!chosen.is_empty(), "there is no such fault");

    // All packages, whatever was chosen: so the next run finds them built.
    let packages = faults.iter().map(|fault| fault.caught_by.package());
    let suite = Suite::build(&tree, &packages.collect())?;
    if search {
        for fault in chosen {
            println!("{}", fault.name);
            for test in suite.search(fault)? {
                println!("    {test}");
            }
        }
        return Ok(());
    }
    let tests: BTreeSet<_> = chosen.iter().map(|fault| &fault.caught_by).collect();
    suite.check(&tests)?;
    let mut missed = Vec::new();
    for (fault, (outcome, took)) in chosen.iter().zip(try_all(&suite, &chosen)?) {
        let (name, rule, took) = (&fault.name, &fault.rule, took.as_secs_f32());
        println!("{name:<44} {rule:<38} {outcome:<6} {took:>5.1} s");
        if outcome != CAUGHT {
            missed.push(*fault);
        }
    }
    println!(
        "{} of {} faults caught",
        chosen.len() - missed.len(),
        chosen.len()
    );
    for fault in &missed {
        println!("{}: {}", fault.name, fault.what);
        println!("    {} did not fail", fault.caught_by);
    }
    ensure!(missed.is_empty(), "{} faults went by", missed.len());
    Ok(())
}

/// What became of each fault and how long that took, several at once: most of
/// the time is spent waiting for what will not come.
fn try_all(suite: &Suite, faults: &[&Fault]) -> Result<Vec<(&'static str, Duration)>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut tried = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(fault) = faults.get(at) else {
                return Ok(tried);
            };
            #[expect(clippy::disallowed_methods, reason = "measures a test for the reader")]
            let start = Instant::now();
            let outcome = judge(fault, &suite.try_fault(fault)?);
            tried.push((at, (outcome, start.elapsed())));
        }
    };
    let tried: Result<Vec<_>> = std::thread::scope(|scope| {
        let workers: [_; AT_ONCE] = std::array::from_fn(|_| scope.spawn(worker));
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .map(|tried| tried.expect("a worker does not panic"))
            .collect()
    });
    let mut tried: Vec<_> = tried?.into_iter().flatten().collect();
    tried.sort_by_key(|(at, _)| *at);
    Ok(tried.into_iter().map(|(_, outcome)| outcome).collect())
}

fn judge(fault: &Fault, ran: &Ran) -> &'static str {
    match ran {
        Ran::Failed(_) => CAUGHT,
        Ran::Hung if fault.may_hang => CAUGHT,
        Ran::Hung => "hung",
        Ran::Passed(_) => "MISSED",
    }
}

const CAUGHT: &str = "caught";

/// How many tests run at the same time.
const AT_ONCE: usize = 4;
