//! The command as its users run it.
#![cfg(test)]

mod command;
mod running;
mod server;
mod terminal;

mod calls;
mod config;
mod demo;
mod exits;
mod forms;
mod generated;
mod guide;
mod interrupts;
mod json;
mod keys;
mod listen;
mod offers;
mod pages;
mod tasks;
mod token;
mod trace;
