//! One client that takes all it can get leaves room for the others.

use std::time::Duration;

use hardening::load::{batches, idle_connections, one_caller_takes_all};

use crate::program;

/// Far above what an answer takes, far below what a client waits for.
const BOUND: Duration = Duration::from_secs(5);

#[test]
fn another_caller_is_served_while_one_takes_all_that_it_may() {
    let fair = one_caller_takes_all(program(), 64, BOUND).unwrap();
    assert_eq!(fair.held, 32);
}

#[test]
fn probes_and_calls_are_answered_beside_more_idle_connections_than_there_is_room_for() {
    let fair = idle_connections(program(), 1024, BOUND).unwrap();
    assert!(fair.slowest < BOUND, "{fair}");
}

#[test]
fn batches_take_the_time_that_the_limit_of_calls_leaves_them() {
    let took = batches(program(), 7, 8).unwrap();
    assert!(took < Duration::from_secs(30), "{took:?}");
}
