//! An MCP server whose handlers are straight-line async code.

mod server;

mod call;
mod cx;
mod form;
mod handler;
mod offer;

mod around;
mod changes;
mod core;
mod failure;
mod modern;
mod rounds;
mod telemetry;

pub mod auth;
pub mod edge;

pub use around::{Around, RoundEnd, RoundSeen};
pub use call::{Answers, Call, Request};
pub use changes::Changes;
pub use cx::{Ask, Cx, Refused, Script};
pub use form::NotAForm;
pub use handler::{
    IntoPromptResult, IntoResourceResult, IntoToolResult, Json, RequestError, ToolError,
};
pub use offer::{Extension, Offer, Prompt, Resource, ResourceTemplate, Tool, Typed, Uri};
pub use server::{BuildError, Mcp, Server, ServerConfig, Service, StartError};
pub use telemetry::TraceContext;
