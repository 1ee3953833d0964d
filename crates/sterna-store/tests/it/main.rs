#![cfg(test)]
//! What a user of the crate sees.

mod suite;
