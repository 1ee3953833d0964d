//! Every example is run, and does what its header says.
#![cfg(test)]

mod activation;
mod container;
mod fleet;
mod headers;
mod nginx;
mod process;
mod stdio;
mod talk;
mod terminal;
