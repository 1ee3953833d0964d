#![cfg(test)]
//! Flows and refusals of the OAuth client, against real servers on loopback.
