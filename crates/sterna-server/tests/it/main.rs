//! The edge and its guards over real sockets, and MCP behind it.
#![cfg(test)]

mod desk;
mod issuer;
mod wire;

mod allocations;
mod guards;
mod http2;
mod keys;
mod legacy;
mod limits;
mod mcp;
mod mounted;
mod oauth;
mod parallel;
mod probes;
mod routes;
mod shutdown;
mod slow;
mod smuggling;
mod stdio;
mod streams;
mod telemetry;
