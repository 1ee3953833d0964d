//! The HTTP server and its limits over real sockets.
#![cfg(test)]

mod desk;
mod idle;
mod issuer;
mod wire;

mod fairness;
mod guards;
mod http2;
mod keys;
mod limits;
mod memory;
mod mounted;
mod oauth;
mod parallel;
mod probes;
mod refused;
mod routes;
mod shutdown;
mod slow;
mod smuggling;
mod streams;
