//! MCP servers and clients whose calls can ask the user, wait, and go on
//! anywhere.
//!
//! A tool that needs something from the user asks for it in the middle of
//! ordinary async code. The server answers `input_required` and forgets
//! everything; when the client comes back with the answer, any instance that
//! has the same keys goes on from there.
//!
//! ```no_run
//! use sterna::server::{Cx, Server, StartError, ToolError};
//!
//! /// Deploys a service after asking why.
//! #[sterna::tool]
//! async fn deploy(cx: Cx<'_>, service: String) -> Result<String, ToolError> {
//!     let reason: String = cx.ask("reason", format!("Why deploy {service}?")).await?;
//!     Ok(format!("{service} deployed: {reason}"))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), StartError> {
//!     Server::new("deployer", "1.0.0")
//!         .offer(deploy::tool())
//!         .serve("127.0.0.1:8080")
//!         .await
//! }
//! ```
//!
//! Then, in another terminal: `sterna call http://127.0.0.1:8080/mcp deploy
//! service=billing`.
//!
//! # Features
//!
//! A program needs no other crate of this family. It depends on `sterna` with
//! the features for what it does:
//!
//! | feature | is for |
//! |---|---|
//! | `server` (default) | a server: tools, prompts and resources that ask |
//! | `client` (default) | a client: calls that can wait for a person |
//! | `axum` | axum handlers that pause and resume, without MCP |
//! | `json-schema` | a server with schemas that use rules which derived ones do not, such as `pattern` |
//! | `jwks` | a server whose callers log on at an issuer of tokens |
//! | `postgres` | tasks and effects of a fleet, in PostgreSQL |
//! | `sqlite` | tasks and effects of one machine, in a file |
//! | `testkit` | tests of your own tools; for `dev-dependencies` |
//!
//! # Modules
//!
//! | module | holds | feature |
//! |---|---|---|
//! | [`protocol`] | the messages of the protocol, without I/O | always |
//! | `server` | [`Server`](server::Server), the context [`Cx`](server::Cx), errors, middleware | `server` |
//! | `server::auth` | callers, bearer tokens, scopes | `server` |
//! | `server::http` | settings of the HTTP server: hosts, origins, limits, metrics | `server` |
//! | [`tool`](macro@tool), [`prompt`](macro@prompt), [`resource`](macro@resource) | attributes that make an offer of a function | `server` |
//! | `flow` | the replay engine under `server` | `axum`, `server` |
//! | [`flows`] | the guide for authors of handlers | `server` |
//! | `seal` | keys, and the state that clients carry | `axum`, `server` |
//! | `client` | [`Client`](client::Client), paused calls, subscriptions | `client` |
//! | `client::oauth` | access tokens for protected servers | `client` |
//! | `axum` | routes that ask | `axum` |
//! | `jwks` | an issuer's keys, fetched over HTTPS | `jwks` |
//! | `store` | the traits of stores, and a store in memory | `axum`, `postgres`, `server`, `sqlite` |
//! | `store_postgres` | a store for a fleet | `postgres` |
//! | `store_sqlite` | a store in one file | `sqlite` |
//! | `testkit` | a scripted client for tests of tools | `testkit` |
//!
//! Logs and spans are events of the crate `tracing`: any subscriber of the
//! program sees them, and `Server::log_to_stderr` prints them without one.
//!
//! The [guide](https://github.com/sterna-mcp/sterna/blob/main/docs/SUMMARY.md)
//! has a page for each of these. This crate has no code of its own: each module
//! is a crate that can be used alone.

#[cfg(doctest)]
mod guide;

pub use sterna_protocol as protocol;

#[cfg(feature = "axum")]
pub use sterna_axum as axum;
#[cfg(feature = "client")]
pub use sterna_client as client;
#[cfg(any(feature = "axum", feature = "server"))]
pub use sterna_flow as flow;
#[cfg(feature = "jwks")]
pub use sterna_jwks as jwks;
#[cfg(feature = "server")]
pub use sterna_macros::{prompt, resource, tool};
#[cfg(any(feature = "axum", feature = "server"))]
pub use sterna_seal as seal;
#[cfg(feature = "server")]
pub use sterna_server as server;
#[cfg(any(
    feature = "axum",
    feature = "postgres",
    feature = "server",
    feature = "sqlite"
))]
pub use sterna_store as store;
#[cfg(feature = "postgres")]
pub use sterna_store_postgres as store_postgres;
#[cfg(feature = "sqlite")]
pub use sterna_store_sqlite as store_sqlite;
#[cfg(feature = "testkit")]
pub use sterna_testkit as testkit;

#[cfg(feature = "server")]
#[doc = include_str!("../docs/flows.md")]
pub mod flows {}

/// Crates that the code of [`tool`](macro@tool), [`prompt`](macro@prompt) and
/// [`resource`](macro@resource) names.
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod __macros {
    pub use schemars;
    pub use serde;
}
