//! The Model Context Protocol as data: messages, envelope, headers and framing.

#[macro_use]
pub mod json;
pub mod http;
pub mod jsonrpc;
pub mod lines;
pub mod sse;

#[macro_use]
pub mod methods;
#[macro_use]
pub mod caching;
pub mod cancellation;
pub mod capabilities;
pub mod completion;
pub mod content;
pub mod discover;
pub mod elicitation;
pub mod errors;
pub mod implementation;
pub mod input;
pub mod legacy;
pub mod logging;
pub mod meta;
pub mod pagination;
pub mod progress;
pub mod prompt;
pub mod resource;
pub mod result;
pub mod roots;
pub mod sampling;
pub mod sep2322;
pub mod subscription;
pub mod tasks;
pub mod tool;
pub mod uri;
pub mod version;

#[cfg(test)]
mod laws;
