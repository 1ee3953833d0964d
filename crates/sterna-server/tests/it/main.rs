//! MCP servers over real sockets and streams.
#![cfg(test)]

mod allocations;
mod key_files;
mod legacy;
mod mcp;
mod parsing;
mod stdio;
mod telemetry;
