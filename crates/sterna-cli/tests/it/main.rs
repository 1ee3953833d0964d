//! The command as its users run it.
#![cfg(test)]

mod api;
mod command;
mod issuer;
mod operations_api;
mod project;
mod raw_server;
mod running;
mod server;
mod terminal;

mod call_http;
mod calls;
#[path = "../../../sterna-inspect/tests/it/chromium.rs"]
#[expect(dead_code, reason = "the tests of the inspector use the rest")]
mod chromium;
mod config;
mod credentials;
mod demo;
mod demo_story;
mod dev;
mod escapes;
mod exits;
mod forms;
mod gateway;
mod gateway_access;
mod gateway_file;
mod generated;
mod guide;
mod inspect;
mod install;
mod interrupts;
mod json;
mod keys;
mod listen;
mod mistakes;
mod new;
mod offers;
mod operations;
mod pages;
mod private_files;
mod resume_lines;
mod session_calls;
mod store;
mod tasks;
mod token;
mod trace;
