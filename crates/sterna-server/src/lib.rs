//! An MCP server whose handlers are straight-line async code.

pub mod auth;
pub mod edge;
mod form;

pub use form::NotAForm;
