#![cfg(test)]
//! The client against servers on loopback: calls and rounds, and the flows and
//! refusals of OAuth.

mod agents;
mod authorization_code;
mod calls;
mod client_auth;
mod discovery;
mod dpop;
mod hostile;
mod legacy;
mod machines;
mod registration;
mod renewal;
mod scopes;
mod store;
mod world;
