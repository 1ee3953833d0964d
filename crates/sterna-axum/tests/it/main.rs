#![cfg(test)]
//! Routes as their clients see them.

mod building;
mod crm;
mod guesses;
mod idempotency;
mod keys;
mod operation_questions;
mod operations;
mod pausing;
mod refusals;
mod shop;
mod uploads;
