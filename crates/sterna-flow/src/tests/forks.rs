//! A client that answers one question twice, in two ways: the result of an
//! effect reaches only the run whose answers it was made from.

use std::collections::BTreeMap;
use std::task::Poll;

use bytes::Bytes;

use super::harness::{Case, Fault, Harness};
use super::program::{Node, generate};
use super::rng::Rng;
use crate::{Error, ExecutionMode, Journal, Outcome};

#[test]
fn a_result_reaches_no_run_that_was_given_another_answer() {
    let mut seen = Observed::default();
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let size = 3 + rng.below(12);
        let program = generate(&mut rng, size).of_answers_and_effects();
        let forked = fork(&program, rng.next(), &mut seen);
        if let Err(fault) = futures::executor::block_on(forked) {
            panic!("seed {seed}: {fault}\n{program:#?}");
        }
    }
    // Both ends are common, or the test would prove nothing.
    assert!(seen.refused > 500, "{seen:?}");
    assert!(seen.finished > 500, "{seen:?}");
}

/// Results of the forks.
#[derive(Debug, Default)]
struct Observed {
    finished: u32,
    refused: u32,
}

/// One round of a flow: where it began and what was answered.
struct Round {
    journal: Journal,
    answers: Vec<(String, Bytes)>,
}

/// Runs the program, then goes back to one of its rounds with another answer.
///
/// Most of the later questions are answered as they were the first time, so
/// that the changed answer alone tells the two runs apart.
async fn fork(program: &Node, schedule: u64, seen: &mut Observed) -> Result<(), Fault> {
    let case = Case {
        program,
        schedule,
        mode: ExecutionMode::RoundTrips,
        has_runtime: false,
    };
    let mut harness = Harness::new(&case);
    harness.world.check_paths();
    let mut first = Round {
        journal: Journal::new(),
        answers: Vec::new(),
    };
    let mut past = Vec::new();
    let mut honest = Observed::default();
    for _ in 0..40 {
        let Some(next) = play(&mut harness, &first, &mut honest).await? else {
            break;
        };
        past.push(std::mem::replace(&mut first, next));
    }
    if honest.refused > 0 {
        return Err("an honest run is refused".to_owned());
    }
    past.push(first);
    past.retain(|round| !round.answers.is_empty());
    let given = past.iter().flat_map(|round| &round.answers).cloned();
    let given: BTreeMap<String, Bytes> = given.collect();
    let count = past.len();
    if count == 0 {
        return Ok(());
    }
    let mut forked = past.swap_remove(harness.rng.below(count));
    let at = harness.rng.below(forked.answers.len());
    forked.answers[at].1 = Bytes::from(harness.rng.next().to_string());
    for _ in 0..40 {
        let Some(next) = play(&mut harness, &forked, seen).await? else {
            return Ok(());
        };
        forked = next;
        for (key, answer) in &mut forked.answers {
            if let Some(first) = given.get(key)
                && harness.rng.chance(80)
            {
                answer.clone_from(first);
            }
        }
    }
    Ok(())
}

/// Plays one round; returns the next one if there is one.
async fn play(
    harness: &mut Harness<'_>,
    round: &Round,
    seen: &mut Observed,
) -> Result<Option<Round>, Fault> {
    let mut driver = harness.begin(round.journal.clone(), 0);
    for (key, answer) in &round.answers {
        driver.answer(key, answer.clone(), harness.now);
    }
    let outcome = loop {
        match harness.poll(&mut driver) {
            Poll::Ready(outcome) => break outcome,
            Poll::Pending if harness.is_woken().await => {}
            Poll::Pending if harness.outside(&driver) => {}
            Poll::Pending => harness.wait(&driver).await?,
        }
    };
    harness.check_world()?;
    match outcome {
        Outcome::Suspended(suspended) => {
            let mut answers = harness.answers(&suspended.questions);
            answers.retain(|(_, answer)| answer != "no number");
            Ok(Some(Round {
                journal: suspended.journal,
                answers,
            }))
        }
        Outcome::Finished(_) => {
            seen.finished += 1;
            Ok(None)
        }
        Outcome::Stopped(Error::OtherAnswers { .. }) => {
            seen.refused += 1;
            Ok(None)
        }
        other => Err(format!("ends with {other:?}")),
    }
}
