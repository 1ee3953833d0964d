//! Guarantees for a server and its operator.
#![cfg(test)]

mod binding;
mod budget;
mod golden;
mod inspect;
mod laws;
mod operator_page;
mod refusals;
mod reload;
mod rotation;
mod spill;
mod stage;
mod vectors;
