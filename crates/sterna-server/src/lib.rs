//! An MCP server whose handlers are straight-line async code.
