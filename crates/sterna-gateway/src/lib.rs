//! An MCP gateway: one server in front of many.
//!
//! Clients of 2026-07-28 and of the older revisions see one server with the
//! tools, prompts and resources of all servers behind it. Those may be of either
//! era too, at a URL or in a process that the gateway starts. A question that a
//! server asks in the middle of a call reaches the client in the words of the
//! client's era.
//!
//! ```no_run
//! use sterna_gateway::{Gateway, GatewayConfig, McpJson};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let text = std::fs::read_to_string("mcp.json")?;
//! let servers = McpJson::parse(&text)?.servers(&|name| std::env::var(name).ok())?;
//! let gateway = Gateway::start(GatewayConfig::new(servers)).await?;
//! gateway.server("gateway", "1.0.0").serve("127.0.0.1:8080").await?;
//! gateway.close().await;
//! # Ok(()) }
//! ```
//!
//! - [`GatewayConfig`] names the servers, from an [`McpJson`] or a
//!   [`GatewayFile`].
//! - [`Gateway`] keeps the sessions with them, and is the
//!   [`Backend`](sterna_server::Backend) of its [`Server`](sterna_server::Server).
//! - [`survey`] looks at each server and says what to expect of it.
//!
//! # Guarantees
//!
//! - No session with a server serves two callers, unless it is configured to be
//!   shared.
//! - No credential of a caller goes to a server: the gateway sends what its
//!   configuration says, and nothing else.
//! - A server is asked with the capabilities that the client declares on this
//!   very request, and no more.
//! - A server that cannot be reached is named in the lists and by `/readyz`.
//! - Processes end with the sessions that they belong to.
//!
//! `docs/gateway.md` has the guide, and what cannot be had.

// Lower modules first: each may use those above it in this list.
mod audit;
mod metrics;
mod name_filter;

mod config;

mod credentials;

mod failure;

mod upstream;

mod view;

mod server_set;

mod calls;

mod approval;
mod round_record;

mod gateway;
mod survey;

pub use audit::AuditTarget;
pub use config::{
    AuthTable, ConfigError, Connection, Credential, GatewayConfig, GatewayFile, McpJson,
    SessionScope, SharedStore, TokenClient, UpstreamConfig,
};
pub use gateway::Gateway;
pub use name_filter::NameFilter;
pub use server_set::StartError;
pub use survey::{Surveyed, Survival, survey};
