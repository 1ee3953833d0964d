//! The Model Context Protocol as data: messages, envelope, headers and framing.

pub mod http;
pub mod jsonrpc;
pub mod lines;
pub mod sse;
