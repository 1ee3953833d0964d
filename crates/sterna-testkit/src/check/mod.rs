//! What every flow must stand, whatever it does.

mod crash;
mod double_run;
mod every_way;

use std::collections::BTreeMap;
use std::fmt;

use crate::failure::Failure;
use crate::flow::{Flow, Way};
use crate::play;
use crate::run::Run;

/// How thoroughly a flow was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Rounds that were replayed.
    pub replays: u32,
    /// Runs in which a replica died or a response was lost.
    pub crashes: u32,
    /// Runs in which the flow was sent to another replica.
    pub sheds: u32,
    /// Ways in which it ran.
    pub ways: u32,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            replays,
            crashes,
            sheds,
            ways,
        } = self;
        write!(
            f,
            "{replays} replays, {crashes} crashes, {sheds} sheds, {ways} ways"
        )
    }
}

/// Checks everything.
pub(crate) async fn all(flow: &Flow) -> Result<Checked, Failure> {
    let mut checked = Checked::default();
    if flow.way == Way::Task {
        let run = play::run(flow).await?;
        checked.ways = 1;
        checked.crashes = crash::of_workers(flow, &run).await?;
        return Ok(checked);
    }
    let (replays, run) = double_run::check(flow).await?;
    checked.replays = replays;
    checked.crashes = crash::of_replicas(flow, &run).await?;
    checked.sheds = every_way::shed(flow, &run).await?;
    checked.ways = 1;
    // Only round trips can be upgraded in the middle of a call.
    if flow.builds.len() > 1 {
        return Ok(checked);
    }
    every_way::session(flow, &run).await?;
    checked.ways += 1;
    if let Some(run) = every_way::task(flow, &run).await? {
        checked.ways += 1;
        checked.crashes += crash::of_workers(flow, &run).await?;
    }
    Ok(checked)
}

/// Compares what two runs have done outside: what happened more often, and
/// what did not happen.
fn difference(before: &Run, after: &Run) -> (Vec<String>, Vec<String>) {
    let mut counts: BTreeMap<&str, i32> = BTreeMap::new();
    for effect in &after.effects {
        *counts.entry(effect).or_default() += 1;
    }
    for effect in &before.effects {
        *counts.entry(effect).or_default() -= 1;
    }
    let some = |wanted: fn(i32) -> bool| {
        let some = counts.iter().filter(|(_, count)| wanted(**count));
        some.map(|(effect, _)| (*effect).to_owned()).collect()
    };
    (some(|count| count > 0), some(|count| count < 0))
}
