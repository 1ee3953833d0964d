//! What the crate promises, checked from outside.
#![cfg(test)]

mod envelope;
mod headers;
mod lines;
mod messages;
mod sse;
