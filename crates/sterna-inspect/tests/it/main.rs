//! The inspector over real HTTP, against servers in the same process.
#![cfg(test)]

mod inspected;
mod visitor;

mod access;
mod calls;
mod eras;
mod forks;
mod hostile;
mod tokens;
