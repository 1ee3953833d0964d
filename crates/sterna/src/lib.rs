//! MCP servers and clients whose calls can ask the user, wait, and go on
//! anywhere.
//!
//! A tool that needs something from the user asks for it in the middle of
//! ordinary async code. The server answers `input_required` and forgets
//! everything; when the client comes back with the answer, any instance that
//! has the same keys goes on from there.
//!
//! ```no_run
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use sterna::server::{Cx, Server, StartError, ToolError};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Deploy {
//!     service: String,
//! }
//!
//! async fn deploy(cx: Cx<'_>, args: Deploy) -> Result<String, ToolError> {
//!     let reason: String = cx.ask("reason", format!("Why deploy {}?", args.service)).await?;
//!     Ok(format!("{} deployed: {reason}", args.service))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), StartError> {
//!     Server::new("deployer", "1.0.0")
//!         .tool("deploy", "Deploys a service after asking why", deploy)
//!         .serve("127.0.0.1:8080")
//!         .await
//! }
//! ```
//!
//! Then, in another terminal: `sterna call http://127.0.0.1:8080/mcp deploy
//! service=billing`.
//!
//! # What is where
//!
//! | module | holds | feature |
//! |---|---|---|
//! | `server` | servers: tools, prompts and resources that ask | `server` (default) |
//! | `client` | clients: calls that can wait for a person | `client` (default) |
//! | [`protocol`] | the messages of the protocol, without I/O | always |
//! | `flow` | the replay engine under `server` | `server` |
//! | `seal` | keys, and the state that clients carry | `server` |
//! | `store` | what tasks and ledgers are kept in | `sqlite`, `postgres` |
//! | `store_sqlite` | a store in one file | `sqlite` |
//! | `store_postgres` | a store for a fleet | `postgres` |
//! | `testkit` | a scripted client for tests of tools | `testkit` |
//!
//! This crate has no code of its own: each module is a crate that can be used
//! alone.

pub use sterna_protocol as protocol;

#[cfg(feature = "client")]
pub use sterna_client as client;
#[cfg(feature = "server")]
pub use sterna_flow as flow;
#[cfg(feature = "server")]
pub use sterna_macros::{prompt, resource, tool};
#[cfg(feature = "server")]
pub use sterna_seal as seal;
#[cfg(feature = "server")]
pub use sterna_server as server;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use sterna_store as store;
#[cfg(feature = "postgres")]
pub use sterna_store_postgres as store_postgres;
#[cfg(feature = "sqlite")]
pub use sterna_store_sqlite as store_sqlite;
#[cfg(feature = "testkit")]
pub use sterna_testkit as testkit;

/// Crates that the code of [`tool`](macro@tool), [`prompt`](macro@prompt) and
/// [`resource`](macro@resource) names.
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod __macros {
    pub use schemars;
    pub use serde;
}

/// The guide's server compiles as it is printed.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/getting-started.md")]
struct GettingStarted;

/// The README's server compiles as it is printed.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The guide to tasks too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tasks.md")]
struct Tasks;

/// The guide to tools, prompts and resources too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tools.md")]
struct Tools;

/// So does what the guide for those who come from elsewhere shows.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/migrating.md")]
struct Migrating;
