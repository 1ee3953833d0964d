//! Much at once, too much at once, and the end in the middle of it.

use std::time::Duration;

use hardening::Subject;
use hardening::load::{Load, ROOMY, overload, stop_under_load};

use crate::program;

#[test]
fn callers_and_listeners_are_served_without_growing() {
    let subject = Subject::start(program(), &ROOMY).unwrap();
    let load = Load::new(64, 1000, Duration::from_secs(3));
    let figures = load.run(&subject).unwrap();
    let (begin, end) = figures.resident;
    assert!(end < begin + 8192, "{figures}");
}

#[test]
fn too_much_is_sent_away_at_once_and_what_comes_later_is_served() {
    let subject = Subject::start(program(), &["--calls", "8"]).unwrap();
    let (served, sent_away, slowest) = overload(&subject, 64).unwrap();
    assert_eq!((served, sent_away), (8, 56));
    // Nobody waited for those who were served.
    assert!(slowest < Duration::from_millis(1500), "{slowest:?}");
}

#[test]
fn a_server_that_stops_answers_what_it_has_begun() {
    let mut subject = Subject::start(program(), &[]).unwrap();
    let answered = stop_under_load(&mut subject, 32).unwrap();
    let end = subject.last_words().unwrap();
    assert_eq!((end.begun, end.finished, end.cut), (answered, answered, 0));
}
