//! The inspector over real HTTP, against servers in the same process.
#![cfg(test)]

mod chromium;
mod inspected;
mod visitor;

mod access;
mod browser;
mod bundles;
mod calls;
mod eras;
mod exports;
mod forks;
mod hostile;
mod keyboard;
mod records;
mod stdio_records;
mod stores;
mod tokens;
