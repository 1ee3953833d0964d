#![cfg(test)]
//! The crate as its users see it.

mod shards;
mod suite;
