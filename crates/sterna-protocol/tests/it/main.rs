//! Tests of the public API.
#![cfg(test)]

mod envelope;
mod headers;
mod lines;
mod messages;
mod sse;
