//! The command as its users run it.
#![cfg(test)]

mod command;
mod server;

mod calls;
mod demo;
mod exits;
mod forms;
mod generated;
mod keys;
mod offers;
mod token;
