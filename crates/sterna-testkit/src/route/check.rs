//! Checks that every pausing route must pass.

use std::collections::BTreeMap;
use std::fmt;

use super::flow::RouteFlow;
use super::play::{Mishap, play};
use super::run::RouteRun;
use crate::failure::Failure;

impl RouteFlow {
    /// Plays the request again and again, with a mishap in each run.
    ///
    /// - **Double run**: every pause is resumed without answers; the route must
    ///   ask the same, run no step and do nothing.
    /// - **Crash everywhere**: the instance is dropped at every poll; the client
    ///   sends its request again, to another one.
    /// - **Lost and repeated**: every response is lost once, and every request is
    ///   sent twice; the second response must be the first, byte for byte.
    /// - **Another caller**, if [one is known](Self::other_caller): brings each
    ///   state with the right answers, and must be refused.
    ///
    /// The request must end in the same way each time, and nothing may
    /// [happen](Self::with_world) twice.
    ///
    /// # Panics
    ///
    /// With the first [`Failure`].
    pub async fn check(&self) -> RouteChecked {
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
    pub async fn try_check(&self) -> Result<RouteChecked, Failure> {
        let mut checked = RouteChecked::default();
        let mut wholes = Wholes::of(self).await?;
        let (rounds, polls) = wholes.extent();
        for round in 1..rounds {
            let mishap = Mishap {
                replay: Some(round),
                ..Mishap::default()
            };
            play(self, mishap).await?;
            checked.replays += 1;
        }
        for poll in places(polls) {
            let mishap = Mishap {
                drop_at: Some(poll),
                ..Mishap::default()
            };
            let when = format!("the instance dies at poll {poll} of {polls}");
            wholes.compare(mishap, &when).await?;
            checked.crashes += 1;
        }
        for round in 1..=rounds {
            let lose = Mishap {
                lose: Some(round),
                ..Mishap::default()
            };
            let when = format!("the response of round {round} is lost");
            wholes.compare(lose, &when).await?;
            checked.crashes += 1;
            // Without a key two equal first requests are two flows.
            if round > 1 || self.has_idempotency_key {
                let twice = Mishap {
                    twice: Some(round),
                    ..Mishap::default()
                };
                let when = format!("the request of round {round} is sent twice");
                wholes.compare(twice, &when).await?;
                checked.repeats += 1;
            }
            if round > 1 && !self.other_caller.is_empty() {
                let mishap = Mishap {
                    other_caller_in: Some(round),
                    ..Mishap::default()
                };
                let when = format!("another caller resumes round {round}");
                wholes.compare(mishap, &when).await?;
                checked.other_callers += 1;
            }
        }
        Ok(checked)
    }
}

/// Runs without a mishap, by the number of their flow: a request that is begun
/// again is another flow, with other random values.
struct Wholes<'a> {
    flow: &'a RouteFlow,
    runs: BTreeMap<u32, RouteRun>,
    first: u32,
}

impl<'a> Wholes<'a> {
    async fn of(flow: &'a RouteFlow) -> Result<Self, Failure> {
        let run = play(flow, Mishap::default()).await?;
        let first = run.flow_number;
        let runs = BTreeMap::from([(first, run)]);
        Ok(Self { flow, runs, first })
    }

    /// Returns the numbers of rounds and of polls.
    fn extent(&self) -> (u32, u32) {
        let run = self.runs.get(&self.first);
        run.map_or((0, 0), |run| (run.rounds, run.polls))
    }

    /// Returns the run whose flow has this number.
    async fn numbered(&mut self, number: u32) -> Result<&RouteRun, Failure> {
        let run = match self.runs.remove(&number) {
            Some(run) => run,
            None => {
                let mishap = Mishap {
                    after: number.saturating_sub(1),
                    ..Mishap::default()
                };
                play(self.flow, mishap).await?
            }
        };
        Ok(self.runs.entry(number).or_insert(run))
    }

    /// Plays the request with a mishap, and compares its end and its effects with
    /// those of the run without.
    async fn compare(&mut self, mishap: Mishap, when: &str) -> Result<(), Failure> {
        let run = play(self.flow, mishap).await;
        let run = run.map_err(|failure| failure.when(when))?;
        let flow = self.flow;
        let whole = self.numbered(run.flow_number).await?;
        let compared = compare(flow, whole, &run, mishap);
        compared.map_err(|failure| failure.when(when))
    }
}

fn compare(
    flow: &RouteFlow,
    whole: &RouteRun,
    run: &RouteRun,
    mishap: Mishap,
) -> Result<(), Failure> {
    let name = flow.name();
    let failure = |what: String| Failure::new(what, run.notes.clone());
    let (more, less) = difference(&whole.effects, &run.effects);
    if let Some(effect) = more {
        let details = format!(
            "without it  {:?}\nwith it     {:?}",
            whole.effects, run.effects
        );
        let what = format!("`{name}` does {effect:?} more than once");
        let advice = match (flow.has_idempotency_key, mishap.lose, mishap.drop_at) {
            (false, Some(1), _) | (false, _, Some(_)) => FIRST,
            _ => AGAIN,
        };
        return Err(failure(what).with(details).advising(advice));
    }
    // The outcome of an effect that was cut off is unknown, so a flow that is told so
    // may end in another way.
    if !run.ambiguous.is_empty() {
        return Ok(());
    }
    if let Some(effect) = less {
        return Err(failure(format!("`{name}` does not do {effect:?}")));
    }
    if run.end != whole.end {
        let details = format!(
            "without it  {} {}\nwith it     {} {}",
            whole.status(),
            whole.text(),
            run.status(),
            run.text()
        );
        let what = format!("`{name}` ends differently");
        return Err(failure(what).with(details).advising(MEMORY));
    }
    Ok(())
}

/// The extent of a check of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteChecked {
    /// Pauses that were resumed without answers.
    pub replays: u32,
    /// Runs in which an instance died or a response was lost.
    pub crashes: u32,
    /// Requests that were sent twice.
    pub repeats: u32,
    /// States that another caller brought.
    pub other_callers: u32,
}

impl fmt::Display for RouteChecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            replays,
            crashes,
            repeats,
            other_callers,
        } = self;
        write!(
            f,
            "{replays} replays, {crashes} crashes, {repeats} repeats, {other_callers} other callers"
        )
    }
}

/// Returns an effect that happened more often after a mishap, and one that is
/// missing.
fn difference<'a>(before: &'a [String], after: &'a [String]) -> (Option<&'a str>, Option<&'a str>) {
    let mut counts: BTreeMap<&str, i32> = BTreeMap::new();
    for effect in after {
        *counts.entry(effect).or_default() += 1;
    }
    for effect in before {
        *counts.entry(effect).or_default() -= 1;
    }
    let find = |wanted: fn(i32) -> bool| {
        let mut effects = counts.iter();
        effects
            .find(|(_, count)| wanted(**count))
            .map(|(effect, _)| *effect)
    };
    (find(|count| count > 0), find(|count| count < 0))
}

/// The polls to crash at: every one, or evenly spread if there are too many.
fn places(polls: u32) -> impl Iterator<Item = u32> {
    let stride = usize::try_from(polls.div_ceil(MOST).max(1)).unwrap_or(1);
    (1..=polls).step_by(stride)
}

const AGAIN: &str = "What an instance did in the round in which it died is forgotten, and a step runs at least once.\n\
    For what must not happen twice use `cx.once`, or hand the key of `cx.effect` to a service that knows it.";

const FIRST: &str = "A client that loses the first response has no state, and its next request begins another flow.\n\
    Act after the first answer, or let the route require an `Idempotency-Key`.";

const MEMORY: &str = "After a crash a handler begins anew, on an instance with another memory.\n\
    What it returns must be made of its request, of answers, and of results of steps.";

/// Crashes of one kind in one check.
const MOST: u32 = 400;
