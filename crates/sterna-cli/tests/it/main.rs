//! The command as its users run it.
#![cfg(test)]

mod command;
mod raw_server;
mod running;
mod server;
mod terminal;

mod calls;
mod config;
mod credentials;
mod demo;
mod escapes;
mod exits;
mod forms;
mod generated;
mod guide;
mod inspect;
mod interrupts;
mod json;
mod keys;
mod listen;
mod mistakes;
mod offers;
mod pages;
mod private_files;
mod resume_lines;
mod tasks;
mod token;
mod trace;
