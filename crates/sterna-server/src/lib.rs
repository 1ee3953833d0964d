//! An MCP server whose handlers are straight-line async code.

mod server;

mod call;
mod cx;
mod form;
mod handler;
mod offer;

mod changes;
mod core;
mod failure;
mod legacy;
mod modern;
mod rounds;
mod stdio;
mod tasks;

pub mod auth;
pub mod edge;
pub mod flows;

pub use call::{Answers, Call, Request};
pub use changes::Changes;
pub use cx::{Ask, Cx, Refused, Script};
pub use form::NotAForm;
pub use handler::{
    IntoPromptResult, IntoResourceResult, IntoToolResult, Json, RequestError, ToolError,
};
pub use offer::{Extension, Offer, Prompt, Resource, ResourceTemplate, Tool, Typed, Uri};
pub use rounds::{SealedState, StateContent};
pub use server::{BuildError, Mcp, Server, ServerConfig, Service, StartError};
pub use tasks::{TaskConfig, TaskMode};
