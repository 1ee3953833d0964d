#![cfg(test)]
//! OAuth flows and refusals against servers on loopback.

mod agents;
mod authorization_code;
mod client_auth;
mod discovery;
mod dpop;
mod exchange;
mod hostile;
mod legacy;
mod machines;
mod registration;
mod renewal;
mod scopes;
mod store;
mod world;
