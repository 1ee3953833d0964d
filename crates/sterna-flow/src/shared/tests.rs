//! The shared state, without a driver or a handler.

use std::panic::Location;
use std::time::Duration;

use bytes::Bytes;

use super::state::State;
use super::waiter::{Stage, WaiterId};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::journal::{Asked, Entry, Journal, Kind};
use crate::key::Key;
use crate::tests::sha256;

fn pin(words: &str) -> Fingerprint {
    Fingerprint::of(&sha256, &[words.as_bytes()])
}

fn entry(key: &str, kind: Kind) -> Entry {
    Entry::new(Key::new(key), kind, Bytes::new())
}

/// A future that has just been made.
fn future(state: &mut State<'_>, name: &str, wants: Kind) -> WaiterId {
    let at = Location::caller();
    state.construct(None, name, wants, at).unwrap()
}

fn stage(state: &State<'_>, id: WaiterId) -> Stage {
    state.waiters.get(id).unwrap().stage
}

#[test]
fn a_leaf_that_does_not_react_must_queue_again() {
    let mut state = State::default();
    let told = future(&mut state, "told", Kind::Step);
    state.deliver(told, 0);
    state.give_up_on_event();
    assert_eq!(stage(&state, told), Stage::Missed(0));

    let granted = future(&mut state, "granted", Kind::Step);
    state.starts.push_back(granted);
    state.start_next();
    assert_eq!(stage(&state, granted), Stage::Granted);
    state.give_up_on_event();
    assert_eq!(stage(&state, granted), Stage::Skipped);
    assert!(!state.has_unanswered_event());
}

#[test]
fn only_the_end_of_the_future_that_was_told_is_a_reaction() {
    let mut state = State::default();
    let told = future(&mut state, "told", Kind::Step);
    let other = future(&mut state, "other", Kind::Step);
    state.deliver(told, 0);
    state.release(other);
    assert!(state.has_unanswered_event());
    state.release(told);
    assert!(!state.has_unanswered_event());
}

#[test]
fn a_question_that_ran_out_has_no_answer() {
    let asked = ["answered", "open", "ran_out"].map(|key| Asked::new(key, pin(key)));
    let entries = [
        entry("answered", Kind::Answer),
        entry("ran_out", Kind::Elapsed),
    ];
    let mut state = State::default();
    state.begin(Journal::from_entries(entries, asked).unwrap());
    let unanswered: Vec<_> = state.unanswered().into_keys().collect();
    assert_eq!(unanswered, [Key::new("open"), Key::new("ran_out")]);
}

/// The entry that a future pinned to `pinned` finds under its name.
fn found(found: Entry, wants: Kind, pinned: Option<&str>) -> Result<Option<usize>, Error> {
    let mut state = State::default();
    state.begin(Journal::from_entries([found], []).unwrap());
    let id = future(&mut state, "x", wants);
    state.waiters.get_mut(id).unwrap().pin = pinned.map(pin);
    state.seek(id)
}

#[test]
fn an_answer_counts_for_its_own_question_only() {
    let answer_to = |words: Option<&str>| {
        let mut answer = entry("x", Kind::Answer);
        answer.fingerprint = words.map(pin);
        found(answer, Kind::Answer, Some("Deploy?")).unwrap()
    };
    assert_eq!(answer_to(Some("Deploy?")), Some(0));
    assert_eq!(answer_to(Some("Destroy?")), None);
    assert_eq!(answer_to(None), None, "it may have been any question");
}

#[test]
fn a_result_counts_unless_both_builds_look_at_the_input_and_differ() {
    let made_from = |then: Option<&str>, today: Option<&str>| {
        let mut result = entry("x", Kind::Step);
        result.fingerprint = then.map(pin);
        found(result, Kind::Step, today)
    };
    for (then, today) in [
        (None, None),
        (None, Some("a")),
        (Some("a"), None),
        (Some("a"), Some("a")),
    ] {
        assert_eq!(made_from(then, today).unwrap(), Some(0));
    }
    let changed = made_from(Some("a"), Some("b")).unwrap_err();
    assert!(matches!(changed, Error::InputChanged { .. }), "{changed}");
}

#[test]
fn a_clock_ends_with_the_future_it_was_for() {
    let mut state = State::default();
    let id = future(&mut state, "nap", Kind::Elapsed);
    let waiter = state.waiters.get_mut(id).unwrap();
    (waiter.lasts, waiter.stage) = (Some(Duration::from_secs(1)), Stage::Open);
    state.arm(id);
    let end = state.next_timer().unwrap();
    state.release(id);
    state.fire(end);
    assert!(!state.has(&Key::new("nap")), "the sleep is over");
}
