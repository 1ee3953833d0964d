#![cfg(test)]
//! The store on a real file.

mod clocks;
mod contract;
mod damage;
mod durability;
mod failures;
mod schema;
