//! The function as AWS Lambda runs it, against a Runtime API of our own.
#![cfg(test)]

mod runtime_api;
mod sandbox;
mod story;
