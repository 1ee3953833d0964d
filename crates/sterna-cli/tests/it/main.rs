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
mod listen;
mod offers;
mod tasks;
mod token;
