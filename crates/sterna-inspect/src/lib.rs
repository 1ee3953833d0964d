//! A web inspector for MCP servers, served on loopback.
//!
//! An [`Inspector`] shows one server to one person: the tools, prompts and
//! resources it offers, calls as rounds on a timeline, questions as forms, and
//! the messages on the wire. Every past round can be answered again, which forks
//! the call. With the keys of the server it opens request state and names the
//! check that refuses it, and with a store it shows tasks, journals and the
//! ledger of effects.
//!
//! The pages are rendered here and work without a script. All text of the server
//! is escaped by the templates, and the pages load nothing from elsewhere.
//!
//! ```no_run
//! use std::sync::Arc;
//! use sterna_client::Client;
//! use sterna_inspect::{Inspector, InspectorConfig};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let connector = Arc::new(|| Ok(Client::builder("http://127.0.0.1:8080/mcp")));
//! let config = InspectorConfig::new("http://127.0.0.1:8080/mcp", connector);
//! let inspector = Inspector::bind(config)?;
//! println!("{}", inspector.url());
//! inspector.serve(std::future::pending()).await?;
//! # Ok(()) }
//! ```
//!
//! [`mask`] hides secrets in messages, [`token`] reads request state and
//! [`doctor`] examines a server; the `sterna` command uses them on the terminal.

// Modules use those above them, never those below.
pub mod doctor;
pub mod mask;
pub mod token;

mod fields;
mod guard;
mod urlencoded;

mod record;

mod calls;

mod bundle;
mod recorder;

mod connections;

mod checkup;
mod config;

mod catalog;
mod export;

mod workbench;

mod pages;

mod site;

mod inspector;

pub use bundle::{Bundle, BundleError};
pub use config::{InspectorConfig, RecordConfig, Sampler};
pub use connections::Connector;
pub use inspector::{Inspector, InspectorError};
pub use recorder::StdioRecorder;
