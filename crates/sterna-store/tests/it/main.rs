#![cfg(test)]
//! What a user of the crate sees.

mod faulty;
mod suite;
