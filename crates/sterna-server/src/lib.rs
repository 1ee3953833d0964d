//! An MCP server whose handlers are straight-line async code.
//!
//! A tool that needs input from the user asks for it and awaits the answer. The
//! server replies `input_required`. When the client retries with the answer, on
//! any instance, the handler resumes. In between the server keeps no state.
//!
//! ```no_run
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use sterna_server::{Cx, Server, StartError, ToolError};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Deploy {
//!     service: String,
//! }
//!
//! async fn deploy(cx: Cx<'_>, args: Deploy) -> Result<String, ToolError> {
//!     let plan = cx.step("plan", || async { "2 replicas".to_owned() }).await;
//!     let reason: String = cx.ask("reason", format!("Deploy {}, {plan}: why?", args.service)).await?;
//!     Ok(format!("{} deployed: {reason}", args.service))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), StartError> {
//!     Server::new("deployer", env!("CARGO_PKG_VERSION"))
//!         .tool("deploy", "Deploys a service after asking", deploy)
//!         .log_to_stderr()
//!         .serve("127.0.0.1:8080")
//!         .await
//! }
//! ```
//!
//! - [`Server`] collects tools, prompts and resources. [`Cx`] is the context of a
//!   handler. [`Tool::low_level`] is for handlers that return their questions.
//! - [`Service`] is a server that was built and checked. It serves HTTP or stdio,
//!   or goes into a tower stack.
//! - A [`Backend`] offers in place of a catalog what other servers have.
//! - [`auth`] authenticates callers, [`http`] has the settings of the HTTP server,
//!   [`Middleware`] runs around every round.
//!
//! `docs/flows.md` is the guide for authors of handlers; `docs/serving.md`
//! describes addresses, keys, limits, health, logs and metrics.

// Lower modules first: each may use those above it in this list.
mod wording;

mod failure;
mod sink;
mod telemetry;

mod changes;
mod environment;
mod era;
mod flow_ids;
mod task_mode;

mod call;

mod catalog;
mod cx;
mod handler;
mod middleware;

mod lists;
mod session_table;
mod tasks;

mod backend;

mod core;

mod current;
mod reply;
mod rounds;
mod workers;

mod sessions;
mod v2026;

pub mod http;
mod stdio;

mod server;

pub use sterna_form::NotAForm;
pub use sterna_http::auth;

pub use backend::{Backend, BackendCall, BackendFuture, View, ViewRequest};
pub use call::{Answers, Call, Request, form_schema};
pub use catalog::{
    CatalogEntry, CompletionRequest, Extension, FromUri, Prompt, Resource, ResourceTemplate, Tool,
    Uri,
};
pub use changes::Changes;
pub use cx::{Ask, AskError, Cx, SamplingRequest};
pub use handler::{
    Handler, IntoPromptResult, IntoResourceResult, IntoToolResult, Json, Params, RequestError,
    State, ToolError,
};
pub use http::Mcp;
pub use middleware::{Middleware, RoundEnd, RoundInfo, RoundResult};
pub use rounds::{SealedState, StateContent};
pub use server::{BuildError, Edit, Server, ServerConfig, Service, ShowMistakes, StartError};
pub use task_mode::TaskMode;
pub use tasks::{TaskConfig, WorkDone};
pub use telemetry::TraceContext;

// Nouns of other crates that authors, hosts and tests need.
pub use sterna_protocol as protocol;
pub use sterna_seal::{
    Budget, FlowId, KeyFile, KeySource, KeyVariable, Keyring, Lifetimes, SharedKeyring,
};
pub use sterna_store::{MemoryStore, Store};

// The nouns of `Cx`'s verbs, and the settings of flows.
pub use sterna_flow::{
    Arms, Body, Cancelled, Changed, Checkpoint, ExecutionMode, FallibleBody, IdempotencyKey,
    JoinAll, Key, Level, Now, Once, Pin, Progress, Race, Random, Retry, RunInfo, Settings, Sleep,
    Step, StepError, StepErrorKind, UnixMillis, Uuid,
};
