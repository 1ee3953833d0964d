//! Programs that stay in memory while they ask, with and without a store.

use std::collections::BTreeMap;
use std::task::Poll;

use super::harness::{Case, Fault, Harness};
use super::oracle::Event;
use crate::{Asked, Entry, ExecutionMode, FlowId, Journal, Kind, OpenQuestion, UnixMillis};

/// State that outlives a worker: questions as they were put, answers as they
/// came.
#[derive(Default)]
struct Desk {
    open: BTreeMap<String, OpenQuestion>,
    seen: BTreeMap<String, crate::Fingerprint>,
    answers: Vec<(UnixMillis, String, bytes::Bytes)>,
}

pub(super) async fn run(case: &Case<'_>) -> Result<(), Fault> {
    let mut harness = Harness::new(case);
    let mut desk = Desk::default();
    if case.mode == ExecutionMode::Legacy {
        harness.crash = 0;
    }
    for life in 0..300 {
        if life == 250 {
            harness.crash = 0;
        }
        if let Some(end) = one_life(&mut harness, &mut desk).await? {
            return end;
        }
    }
    Err("does not end".to_owned())
}

/// One worker's time with the flow. None if it crashed or let go of it.
async fn one_life(
    harness: &mut Harness<'_>,
    desk: &mut Desk,
) -> Result<Option<Result<(), Fault>>, Fault> {
    let mut driver = harness.begin(stored(harness, desk)?, 0);
    for (at, key, answer) in desk.answers.clone() {
        driver.answer(&key, answer, at);
    }
    if harness.cancelled {
        driver.remote().cancel();
    }
    for _ in 0..200_000 {
        if harness.rng.chance(harness.crash) {
            harness.crash -= 1;
            return Ok(None);
        }
        if harness.rng.chance(harness.cancel) && !harness.cancelled {
            harness.cancelled = true;
            driver.remote().cancel();
        }
        if harness.rng.chance(20) {
            harness.world.open_gate(harness.rng.next());
        }
        match harness.poll(&mut driver) {
            Poll::Ready(outcome) => {
                let log = log(harness, &driver);
                return Ok(Some(harness.check_end(&outcome, &log)));
            }
            Poll::Pending if harness.is_woken().await => continue,
            Poll::Pending => {}
        }
        harness.check_world()?;
        update(desk, driver.changes())?;
        if driver.is_idle() {
            let log = log(harness, &driver);
            let open: Vec<_> = desk.open.values().cloned().collect();
            harness.check_questions(&open, &harness.oracle(&log))?;
            if harness.case.mode == ExecutionMode::Task && harness.rng.chance(20) {
                return Ok(None);
            }
        }
        let keys: Vec<String> = desk.open.keys().cloned().collect();
        let mut answered = false;
        // Several answers at once, while steps may be running.
        for key in keys {
            if harness.rng.chance(30) {
                let answer = harness.answer();
                if driver.answer(&key, answer.clone(), harness.now) {
                    desk.answers.push((harness.now, key.clone(), answer));
                    desk.open.remove(&key);
                    answered = true;
                }
            }
        }
        // A client that has been asked will answer in a moment.
        if !answered && !harness.outside(&driver) && desk.open.is_empty() {
            harness.wait(&driver).await?;
        }
    }
    Err(format!("never comes to rest: {driver:?}"))
}

/// The journal that a new worker finds.
fn stored(harness: &Harness<'_>, desk: &Desk) -> Result<Journal, Fault> {
    let entries = harness.world.stored();
    let flow = FlowId::from_bytes(super::FLOW);
    let steps = entries
        .iter()
        .filter(|entry| matches!(entry.kind(), Kind::Step | Kind::Once));
    harness.world.keep(&flow, steps);
    let asked: Vec<Asked> = desk
        .seen
        .iter()
        .map(|(key, fingerprint)| Asked::new(key, *fingerprint))
        .collect();
    Journal::from_entries(entries, asked).map_err(|error| error.to_string())
}

fn log(
    harness: &Harness<'_>,
    driver: &crate::Driver<'_, dyn Future<Output = super::interpret::Eval> + Send + '_>,
) -> Vec<Event> {
    let event = |entry: &Entry| harness.event(entry);
    match harness.case.mode {
        ExecutionMode::Task => harness.world.stored().iter().map(event).collect(),
        _ => driver.journal().entries().iter().map(event).collect(),
    }
}

fn update(desk: &mut Desk, changes: crate::Changes) -> Result<(), Fault> {
    for key in changes.withdrawn {
        desk.open.remove(key.as_str());
    }
    for question in changes.opened {
        let key = question.key.to_string();
        let before = desk.seen.insert(key.clone(), question.fingerprint);
        if before.is_some_and(|before| before != question.fingerprint) {
            return Err(format!("{key} was asked before, in other words"));
        }
        desk.open.insert(key, question);
    }
    Ok(())
}
