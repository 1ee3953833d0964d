//! The edge and its guards, over real sockets.
#![cfg(test)]

mod desk;
mod wire;

mod limits;
mod parallel;
mod probes;
mod routes;
mod shutdown;
mod slow;
mod smuggling;
mod streams;
