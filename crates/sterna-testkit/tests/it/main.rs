//! The kit on handlers that are right, and on handlers that are not.
#![cfg(test)]

mod checks;
mod clients;
mod derived;
mod fleets;
mod routes;
mod runs;
mod ways;
mod wrong;

use std::sync::{Arc, Mutex};

/// A stand-in for the outside world.
#[derive(Clone, Default)]
struct Outside(Arc<Mutex<Vec<String>>>);

impl Outside {
    fn does(&self, what: &str) {
        self.0.lock().unwrap().push(what.to_owned());
    }

    fn done(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}
