//! Programs in round trips: every round is a new run from bytes.

use std::collections::BTreeMap;
use std::task::Poll;
use std::time::Duration;

use super::harness::{Case, Fault, Harness};
use super::oracle::Event;
use crate::journal::v1::read_time;
use crate::{Error, Journal, Kind, Limits, Outcome, Suspended, UnixMillis};

pub(super) async fn run(case: &Case<'_>) -> Result<(), Fault> {
    let mut harness = Harness::new(case);
    let limits = Limits {
        entries: 10_000,
        ..Limits::default()
    };
    let mut journal = Journal::new();
    let mut log: Vec<Event> = Vec::new();
    let mut answers = Vec::new();
    let mut deadlines = BTreeMap::new();
    let mut round = 0;
    let mut first_try = None;
    let mut came_too_late = false;
    for _ in 0..3_000 {
        let later = Duration::from_millis(harness.rng.below(500) as u64);
        harness.now = harness.now + later;
        let now = harness.now;
        came_too_late |= runs_out(&journal, first_try.unwrap_or(now), now);
        let Some((outcome, news)) =
            one_run(&mut harness, &journal, round, &answers, &deadlines).await?
        else {
            first_try.get_or_insert(now);
            continue;
        };
        log.extend(news);
        harness.check_world()?;
        match outcome {
            // The effect was begun under an answer that lost against a clock, since a
            // request came again too late, in this round or in one before.
            Outcome::Stopped(Error::OtherAnswers { .. }) if came_too_late => return Ok(()),
            Outcome::Suspended(suspended) => {
                let oracle = harness.oracle(&log);
                harness.check_questions(&suspended.questions, &oracle)?;
                journal = Journal::decode(suspended.journal.encode(), &limits)
                    .map_err(|error| format!("{error}: {:?}", suspended.journal))?;
                check_replay(&mut harness, &journal, round, &suspended).await?;
                answers = harness.answers(&suspended.questions);
                deadlines = suspended
                    .questions
                    .iter()
                    .filter_map(|question| Some((question.key.to_string(), question.deadline?)))
                    .collect();
                // The rest of a long conversation is held without crashes.
                if round > 200 {
                    harness.crash = 0;
                }
                round += 1;
            }
            Outcome::Shed(shed) => {
                journal = Journal::decode(shed.encode(), &limits).unwrap();
                answers.clear();
                harness.shed /= 2;
            }
            end => return harness.check_end(&end, &log),
        }
        first_try = None;
        let flow = crate::FlowId::from_bytes(super::FLOW);
        let steps = journal.entries().iter();
        harness.world.keep(
            &flow,
            steps.filter(|entry| matches!(entry.kind(), Kind::Step | Kind::Once)),
        );
    }
    Err("does not end".to_owned())
}

/// Returns whether a clock of `journal` runs out after `from` and not after `to`.
fn runs_out(journal: &Journal, from: UnixMillis, to: UnixMillis) -> bool {
    let timers = journal.entries().iter();
    let mut ends = timers
        .filter(|entry| entry.kind() == Kind::Timer)
        .filter_map(|entry| read_time(entry.value().get(1..)?).ok());
    ends.any(|end| from < end && end <= to)
}

type Ended = (Outcome<u64, super::interpret::Stop>, Vec<Event>);

/// One request. None if the server crashed in the middle.
async fn one_run(
    harness: &mut Harness<'_>,
    journal: &Journal,
    round: u32,
    answers: &[(String, bytes::Bytes)],
    deadlines: &BTreeMap<String, UnixMillis>,
) -> Result<Option<Ended>, Fault> {
    let mut driver = harness.begin(journal.clone(), round);
    let now = harness.now;
    for (key, answer) in answers {
        let counts = driver.answer(key, answer.clone(), now);
        if counts && deadlines.get(key).is_some_and(|deadline| *deadline <= now) {
            return Err(format!("a late answer to {key} counts"));
        }
    }
    if harness.rng.chance(harness.shed) {
        driver.remote().shed();
    }
    for _ in 0..200_000 {
        if harness.rng.chance(harness.crash) {
            harness.crash -= 1;
            return Ok(None);
        }
        if harness.rng.chance(harness.cancel) {
            harness.cancelled = true;
            driver.remote().cancel();
        }
        if harness.rng.chance(20) {
            harness.world.open_gate(harness.rng.next());
        }
        match harness.poll(&mut driver) {
            Poll::Ready(outcome) => {
                let after = match &outcome {
                    Outcome::Suspended(suspended) => &suspended.journal,
                    Outcome::Shed(journal) => journal,
                    _ => &driver.journal(),
                };
                let news = after.entries().iter();
                let news = news.filter(|entry| journal.entry(entry.key().as_str()).is_none());
                let news = news.map(|entry| harness.event(entry)).collect();
                return Ok(Some((outcome, news)));
            }
            Poll::Pending if harness.is_woken().await => {}
            Poll::Pending if harness.outside(&driver) => {}
            Poll::Pending => harness.wait(&driver).await?,
        }
    }
    Err(format!("never comes to rest: {driver:?}"))
}

/// The same journal again must ask the same and run nothing.
async fn check_replay(
    harness: &mut Harness<'_>,
    journal: &Journal,
    round: u32,
    suspended: &Suspended,
) -> Result<(), Fault> {
    let started = harness.world.started();
    let mut driver = harness.begin(journal.clone(), round);
    let now = harness.now;
    for _ in 0..200_000 {
        match harness.poll(&mut driver) {
            Poll::Pending if harness.is_woken().await => {}
            Poll::Pending if harness.outside(&driver) => {}
            Poll::Pending => harness.wait(&driver).await?,
            Poll::Ready(Outcome::Suspended(again)) => {
                // Time may have passed for another reason than the grace.
                let fired = harness.now != now && again.journal != *journal;
                harness.now = now;
                if !fired && harness.world.started() != started {
                    return Err("a replay runs a step".to_owned());
                }
                let questions = |suspended: &Suspended| -> Vec<_> {
                    let questions = suspended.questions.iter();
                    questions
                        .map(|q| (q.key.clone(), q.fingerprint, q.request.clone()))
                        .collect()
                };
                if !fired && questions(&again) != questions(suspended) {
                    return Err(format!("a replay asks {again:?}, not {suspended:?}"));
                }
                if !fired && again.journal.encode() != suspended.journal.encode() {
                    return Err(format!("a replay ends at {again:?}, not {suspended:?}"));
                }
                return Ok(());
            }
            Poll::Ready(other) => {
                if harness.now != now {
                    harness.now = now;
                    return Ok(());
                }
                return Err(format!("a replay ends with {other:?}"));
            }
        }
    }
    Err("a replay never comes to rest".to_owned())
}
