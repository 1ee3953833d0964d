#![cfg(test)]
//! The store on a real file.

mod contract;
mod durability;
mod failures;
mod schema;
