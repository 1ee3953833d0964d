//! One handler, every way to run it, one outcome.

use super::difference;
use crate::answer::plain;
use crate::failure::Failure;
use crate::flow::Flow;
use crate::play::{Plan, Shed, legacy, rounds, task};
use crate::run::Run;
use crate::show;

/// Runs in a session of the older revisions.
pub(super) async fn session(flow: &Flow, run: &Run) -> Result<Run, Failure> {
    let other = legacy::play(flow, run).await;
    compare(flow, run, other, "in a session of 2025-11-25")
}

/// Runs as a task, if it can.
pub(super) async fn task(flow: &Flow, run: &Run) -> Result<Option<Run>, Failure> {
    let other = task::play(flow, None).await.transpose();
    let compared = other.map(|other| compare(flow, run, other, "as a task"));
    compared.transpose()
}

/// Has every replica send the flow away, and each at every poll. Returns how
/// many runs that were.
pub(super) async fn shed(flow: &Flow, run: &Run) -> Result<u32, Failure> {
    let places = (1..=run.polls).step_by(run.polls.div_ceil(MOST).max(1) as usize);
    let sheds = places.map(Shed::At).chain([Shed::Always]);
    let mut runs = 0;
    for shed in sheds {
        let plan = Plan {
            shed,
            ..Plan::default()
        };
        let other = rounds::play(flow, plan).await;
        compare(
            flow,
            run,
            other,
            "when it is sent from one replica to another",
        )?;
        runs += 1;
    }
    Ok(runs)
}

fn compare(
    flow: &Flow,
    run: &Run,
    other: Result<Run, Failure>,
    mode: &str,
) -> Result<Run, Failure> {
    let name = &flow.target.name;
    let other = other.map_err(|failure| failure.when(mode))?;
    let failure = |what: &str, details: String| {
        let what = format!("`{name}` {what} {mode}");
        let failure = Failure::new(what, other.notes.clone());
        Err(failure.with(details).advising(SAME))
    };
    let both = |one: String, two: String| format!("in round trips  {one}\nhere            {two}");
    if run.end != other.end {
        let details = both(run.end.to_string(), other.end.to_string());
        return failure("ends differently", details);
    }
    let (one, two) = (questions(run), questions(&other));
    if one != two {
        return failure("asks something else", both(one.join("; "), two.join("; ")));
    }
    if difference(run, &other) != (Vec::new(), Vec::new()) {
        let (one, two) = (&run.effects, &other.effects);
        return failure(
            "does something else",
            both(format!("{one:?}"), format!("{two:?}")),
        );
    }
    Ok(other)
}

/// The questions, in an order that does not depend on the mode.
fn questions(run: &Run) -> Vec<String> {
    let questions = run.questions.iter();
    let mut shown: Vec<String> = questions
        .map(|question| show::question(plain(&question.key), &question.request))
        .collect();
    shown.sort();
    shown
}

const SAME: &str = "What a handler asks, does and returns must be made of its arguments, of answers, and of results of steps.\n\
    The memory of a replica and the extensions of an HTTP request do not go with it.";

/// Runs in which a flow is sent away, in one check.
const MOST: u32 = 200;
