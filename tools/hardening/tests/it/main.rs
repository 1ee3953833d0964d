//! Everything bad that we can think of, against a real process.
#![cfg(test)]

mod bad_input;
mod fairness;
mod load;

use std::path::Path;

/// The program that serves.
fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hardening"))
}
