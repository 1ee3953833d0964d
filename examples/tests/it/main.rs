//! Every example is run, and does what its header says.
#![cfg(test)]

mod activation;
#[path = "../../../crates/sterna-inspect/tests/it/chromium.rs"]
#[expect(dead_code, reason = "the tests of the inspector use more of it")]
mod chromium;
mod compare;
mod container;
mod fleet;
mod headers;
mod http;
mod import;
mod nginx;
mod page;
mod process;
mod stdio;
mod talk;
mod terminal;
