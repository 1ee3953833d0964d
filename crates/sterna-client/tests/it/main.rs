#![cfg(test)]
//! The client against servers on loopback: calls, rounds, sessions and tasks.

mod calls;
mod errand;
mod logged;
#[expect(
    dead_code,
    unused_imports,
    reason = "the fixture of sterna-oauth's tests; a few tests here need its servers"
)]
#[path = "../../../sterna-oauth/tests/it/world/mod.rs"]
mod world;
