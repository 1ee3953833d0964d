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
    assert_eq!(figures.events, 6000);
}

#[test]
fn too_much_is_sent_away_at_once_and_what_comes_later_is_served() {
    let came_of_it = overload(program(), 8, 64).unwrap();
    assert_eq!((came_of_it.served, came_of_it.sent_away), (8, 56));
}

#[test]
fn a_server_that_stops_answers_what_it_has_begun() {
    let stopped = stop_under_load(program(), 32).unwrap();
    assert!(stopped.answered >= 320, "{stopped}");
}
