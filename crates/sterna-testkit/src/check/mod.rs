//! Checks that every flow must pass.

mod crash;
mod every_way;

use std::collections::BTreeMap;
use std::fmt;

use crate::end::RunResult;
use crate::failure::Failure;
use crate::flow::{ExecutionMode, Flow};
use crate::play;
use crate::play::{Plan, rounds};
use crate::run::Run;

impl Flow {
    /// Runs it again and again, and has it interrupted in every way it can be.
    ///
    /// - **Double run**: every round is replayed twice without answers; it must
    ///   ask the same and run nothing.
    /// - **Crash everywhere**: the replica is dropped at every poll, and every
    ///   response is lost; the client repeats its request to another one. The
    ///   flow must end in the same way, and nothing may
    ///   [happen](Self::world) twice.
    /// - **Every way**: as a session of 2025-11-25, as a task, and sent from
    ///   one replica to the next wherever it can be, it must ask, do and return
    ///   the same.
    ///
    /// The client is a good one: [rounds](Self::round) are not changed.
    ///
    /// # Panics
    ///
    /// With the first [`Failure`].
    pub async fn check(&self) -> Checked {
        match self.try_check().await {
            Ok(checked) => checked,
            Err(failure) => failure.raise(),
        }
    }

    /// As [`check`](Self::check), but returns the failure.
    ///
    /// # Errors
    ///
    /// The first [`Failure`].
    pub async fn try_check(&self) -> Result<Checked, Failure> {
        all(self).await
    }
}

/// The extent of a check.
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
    if flow.mode == ExecutionMode::Task {
        let run = play::run(flow).await?;
        checked.ways = 1;
        checked.crashes = crash::of_workers(flow, &run).await?;
        return Ok(checked);
    }
    let (replays, run) = replay_rounds(flow).await?;
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

/// Compares the effects of two runs: those that happened more often, and those
/// that are missing.
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

/// Replays one round after the other. Returns how many, and the run in which
/// there was none left to replay.
async fn replay_rounds(flow: &Flow) -> Result<(u32, Run), Failure> {
    let mut replays = 0;
    loop {
        let plan = Plan {
            replay: Some(replays + 1),
            ..Plan::default()
        };
        let run = rounds::play(flow, plan).await?;
        if run.end != RunResult::Gone {
            return Ok((replays, run));
        }
        replays += 1;
    }
}
