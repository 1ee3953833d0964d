//! The inspector over real HTTP, against servers in the same process.
#![cfg(test)]

mod chromium;
mod inspected;
mod stores;
mod visitor;

mod access;
mod browser;
mod calls;
mod eras;
mod exports;
mod forks;
mod hostile;
mod tokens;
