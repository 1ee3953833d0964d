//! A replica that dies, wherever it can, and a response that is lost.

use std::collections::BTreeMap;

use super::difference;
use crate::failure::Failure;
use crate::flow::{ExecutionMode, Flow};
use crate::play::{Plan, rounds, task};
use crate::run::Run;

/// Drops the request before every poll, and loses every response. Returns how
/// often.
pub(super) async fn of_replicas(flow: &Flow, run: &Run) -> Result<u32, Failure> {
    let mut crashes = 0;
    let mut whole = Whole::new(flow, run);
    for poll in places(run.polls) {
        let plan = Plan {
            drop_at: Some(poll),
            ..Plan::default()
        };
        let when = format!("the replica dies at poll {poll} of {}", run.polls);
        let crashed = rounds::play(flow, plan).await;
        let crashed = crashed.map_err(|failure| failure.when(&when))?;
        compare(flow, whole.like(&crashed).await?, &crashed, &when)?;
        crashes += 1;
    }
    for round in 1..=run.rounds {
        let plan = Plan {
            lose: Some(round),
            ..Plan::default()
        };
        let when = format!("the response of round {round} is lost");
        let crashed = rounds::play(flow, plan).await;
        let crashed = crashed.map_err(|failure| failure.when(&when))?;
        compare(flow, whole.like(&crashed).await?, &crashed, &when)?;
        crashes += 1;
    }
    Ok(crashes)
}

/// Kills the worker of a task at every turn. Returns how often.
pub(super) async fn of_workers(flow: &Flow, run: &Run) -> Result<u32, Failure> {
    let mut crashes = 0;
    for turn in places(run.polls) {
        let when = format!(
            "the worker of the task dies at turn {turn} of {}",
            run.polls
        );
        if let Some(crashed) = task::play(flow, Some(turn)).await.transpose() {
            let crashed = crashed.map_err(|failure| failure.when(&when))?;
            compare(flow, run, &crashed, &when)?;
        }
        crashes += 1;
    }
    Ok(crashes)
}

/// The polls to crash at: every one, or evenly spread if there are too many.
fn places(polls: u32) -> impl Iterator<Item = u32> {
    let stride = polls.div_ceil(MOST).max(1);
    (1..=polls).step_by(stride as usize)
}

/// Runs without a crash, by the number of their flow.
///
/// A client that loses the first response has no state: its next request begins
/// another flow, with other random values and idempotency keys. What came of it
/// is compared with a run of that flow and not with a run of the first.
struct Whole<'a> {
    flow: &'a Flow,
    first: &'a Run,
    others: BTreeMap<u32, Run>,
}

impl<'a> Whole<'a> {
    fn new(flow: &'a Flow, first: &'a Run) -> Self {
        Self {
            flow,
            first,
            others: BTreeMap::new(),
        }
    }

    /// The run without a crash of the flow in which `crashed` came to its end.
    async fn like(&mut self, crashed: &Run) -> Result<&Run, Failure> {
        let number = crashed.flow_number;
        if number == self.first.flow_number {
            return Ok(self.first);
        }
        if !self.others.contains_key(&number) {
            let plan = Plan {
                after: number.saturating_sub(1),
                ..Plan::default()
            };
            let run = rounds::play(self.flow, plan).await?;
            self.others.insert(number, run);
        }
        Ok(&self.others[&number])
    }
}

fn compare(flow: &Flow, run: &Run, crashed: &Run, when: &str) -> Result<(), Failure> {
    let name = &flow.target.name;
    let failure = |what: String| Failure::new(what, crashed.notes.clone()).when(when);
    let (more, less) = difference(run, crashed);
    if let Some(effect) = more.first() {
        let what = format!("`{name}` does {effect:?} more than once if a replica dies");
        let details = format!(
            "without the crash  {:?}\nwith it            {:?}",
            run.effects, crashed.effects
        );
        let advice = match crashed.first_crash() {
            Some(1) if flow.mode != ExecutionMode::Task => FIRST,
            _ => AGAIN,
        };
        return Err(failure(what).with(details).advising(advice));
    }
    // The outcome of an effect that was cut off is unknown, so a flow that is told so
    // may end in another way.
    if !crashed.ambiguous.is_empty() {
        return Ok(());
    }
    if let Some(effect) = less.first() {
        let what = format!("`{name}` does not do {effect:?} if a replica dies");
        return Err(failure(what));
    }
    if run.end != crashed.end {
        let what = format!("`{name}` ends differently if a replica dies");
        let details = format!(
            "without the crash  {}\nwith it            {}",
            run.end, crashed.end
        );
        return Err(failure(what).with(details).advising(MEMORY));
    }
    Ok(())
}

const AGAIN: &str = "What a replica did in the round in which it died is forgotten, and a step runs at least once.\n\
    For what must not happen twice use `cx.once`, or hand the key of `cx.effect` to a service that knows it.";

const FIRST: &str = "A client that loses the first response has no state, and its next request begins another flow.\n\
    Act after the first answer, or run as a task.";

const MEMORY: &str = "After a crash a handler begins anew, on a replica with another memory.\n\
    What it returns must be made of its arguments, of answers, and of results of steps.";

/// Crashes of one kind in one check.
const MOST: u32 = 400;
