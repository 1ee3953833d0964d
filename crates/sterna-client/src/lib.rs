//! An MCP client whose calls can wait for a person.
//!
//! [`oauth`] gets and keeps the access tokens of protected servers, for any
//! HTTP transport that asks it before each request and tells it each answer.

mod clock;
mod tls;

pub mod oauth;
