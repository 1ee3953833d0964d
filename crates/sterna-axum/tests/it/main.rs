#![cfg(test)]
//! Routes as their clients see them.

mod building;
mod guesses;
mod idempotency;
mod pausing;
mod refusals;
mod shop;
