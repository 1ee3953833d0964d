//! An MCP server whose handlers are straight-line async code.

mod form;

pub use form::NotAForm;
