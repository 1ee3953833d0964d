//! The Model Context Protocol as data: messages, envelope, headers and framing.

pub mod jsonrpc;
