#![cfg(test)]
//! The crate as its users see it.

mod suite;
