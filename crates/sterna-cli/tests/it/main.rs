//! The command as its users run it.
#![cfg(test)]

mod command;

mod generated;
mod keys;
mod token;
