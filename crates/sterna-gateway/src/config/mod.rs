//! Servers behind a gateway, and how they are offered.

mod auth;
mod credential;
mod file;
mod mcp_json;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use auth::AuthTable;
pub use credential::{Credential, TokenClient};
pub use file::GatewayFile;
pub use mcp_json::McpJson;
use serde::Deserialize;
use sterna_client::Era;
use sterna_protocol::tool::Tool;
use sterna_server::Store;
use thiserror::Error;

use crate::audit::AuditTarget;
use crate::name_filter::{NameFilter, matches};

/// Settings of a [`Gateway`](crate::Gateway).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GatewayConfig {
    /// Servers, in the order in which their tools are listed.
    pub servers: Vec<UpstreamConfig>,
    /// Calls of one caller that may be held: kept open at a server of before
    /// 2026-07-28 while the user answers. Eight dialogues are
    /// more than a person has at once.
    pub held_per_caller: usize,
    /// Calls that may be held in all. Each keeps a connection or a process.
    pub held_in_all: usize,
    /// Time that a held call waits for its answers. Ten minutes are a meeting's
    /// break; most servers give up earlier.
    pub held_for: Duration,
    /// Time within which a question for an approval must be answered. An hour, as
    /// long as the state of the call that waits for it.
    pub approval_for: Duration,
    /// Store in which used approvals are entered. Without one each replica knows
    /// only those that were used at itself, until it is restarted.
    pub store: Option<SharedStore>,
    /// Place of the audit log: a line of JSON for each round of a call, without
    /// any value.
    pub audit: Option<AuditTarget>,
    /// Time after which a session that was not used is closed.
    pub idle: Duration,
    /// Longest wait for the lists of a server.
    pub list_timeout: Duration,
}

impl GatewayConfig {
    /// Creates the settings of a gateway in front of `servers`.
    #[must_use]
    pub fn new(servers: Vec<UpstreamConfig>) -> Self {
        Self {
            servers,
            held_per_caller: 8,
            held_in_all: 1000,
            held_for: Duration::from_secs(600),
            approval_for: Duration::from_secs(3600),
            store: None,
            audit: None,
            idle: Duration::from_secs(300),
            list_timeout: Duration::from_secs(10),
        }
    }
}

/// One server behind the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamConfig {
    /// Name of the server, in errors and in the metadata of lists.
    pub name: String,
    /// The way to it.
    pub connection: Connection,
    /// Credential besides the header fields of the connection.
    pub credential: Credential,
    /// Revisions that it is spoken to in. By default the gateway finds out.
    pub era: Era,
    /// Text before the names of its tools and prompts.
    pub prefix: String,
    /// Requests that share a session with it.
    pub session: SessionScope,
    /// A call that asks is left to the client, where the server can resume its
    /// stream. `false` holds it: for servers of before 2026-07-28 that take a
    /// closed connection for a cancellation.
    pub resume: bool,
    /// Patterns of the tools, by the names that the server gives them, that are called
    /// anew if a call is lost while its user answers. Such a call may run twice.
    pub reissue: Vec<String>,
    /// Has the same done with tools that the server declares to be read-only or
    /// idempotent. A server may say so of any tool.
    pub trust_annotations: bool,
    /// Tools that are offered, by the names that the server gives them.
    pub tools: NameFilter,
    /// Patterns of the tools that are called only after the caller has said yes to
    /// exactly these arguments, by the names that the server gives them.
    pub approve: Vec<String>,
    /// Prompts that are offered.
    pub prompts: NameFilter,
    /// Resources and templates that are offered, by their URIs and patterns.
    pub resources: NameFilter,
}

impl UpstreamConfig {
    /// Offers everything of a server, under the names that it gives.
    #[must_use]
    pub fn new(name: impl Into<String>, connection: Connection) -> Self {
        Self {
            name: name.into(),
            connection,
            credential: Credential::default(),
            era: Era::Any,
            prefix: String::new(),
            session: SessionScope::default(),
            resume: true,
            reissue: Vec::new(),
            trust_annotations: false,
            tools: NameFilter::default(),
            approve: Vec::new(),
            prompts: NameFilter::default(),
            resources: NameFilter::default(),
        }
    }
}

impl UpstreamConfig {
    /// Returns `true` if a lost call of `tool` may be sent anew. One that must be
    /// approved may not: an approval serves one call.
    pub(crate) fn may_reissue(&self, tool: &Tool) -> bool {
        let is_named = matches_any(&self.reissue, &tool.name);
        let is_declared = tool.annotations.as_ref().is_some_and(|hints| {
            hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
        });
        let is_allowed = is_named || self.trust_annotations && is_declared;
        is_allowed && !self.needs_approval(&tool.name)
    }

    pub(crate) fn needs_approval(&self, tool: &str) -> bool {
        matches_any(&self.approve, tool)
    }
}

fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// Store that the gateway shares with its server. Cheap to clone.
#[derive(Clone)]
pub struct SharedStore(Arc<dyn Store>);

impl SharedStore {
    pub(crate) fn as_dyn(&self) -> &dyn Store {
        &*self.0
    }

    pub(crate) fn to_arc(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0)
    }
}

impl From<Arc<dyn Store>> for SharedStore {
    fn from(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedStore")
    }
}

/// The way to a server.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Connection {
    /// A program that is started, and speaks on its standard streams.
    Command {
        /// Program, found as a shell would find it.
        program: String,
        /// Arguments.
        args: Vec<String>,
        /// Variables besides those of the gateway.
        env: BTreeMap<String, String>,
        /// Folder to run in.
        folder: Option<PathBuf>,
    },
    /// A URL.
    Url {
        /// Address of the endpoint.
        url: String,
        /// Header fields of every request, such as an API key.
        headers: BTreeMap<String, String>,
    },
}

impl Connection {
    /// The URL or the program, without arguments and credentials.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        match self {
            Self::Command { program, .. } => program,
            Self::Url { url, .. } => url,
        }
    }

    /// Returns `true` if requests have header fields of the configuration.
    pub(crate) fn has_headers(&self) -> bool {
        matches!(self, Self::Url { headers, .. } if !headers.is_empty())
    }

    /// Name of the transport: `http` or `stdio`.
    #[must_use]
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Command { .. } => "stdio",
            Self::Url { .. } => "http",
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments, variables and header fields often hold credentials.
        f.debug_tuple(self.transport())
            .field(&self.endpoint())
            .finish()
    }
}

/// Requests that share a session with a server.
///
/// The capabilities that a client declares always tell sessions apart: a server
/// is never told of one that the client at hand does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SessionScope {
    /// Each call has a session of its own, which ends with it.
    Call,
    /// Those of one caller.
    #[default]
    Principal,
    /// Those of all callers. For servers that keep nothing about a caller.
    Shared,
}

/// Configuration that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file has another form.
    #[error("{0}")]
    Form(String),
    /// One server cannot be used.
    #[error("the server `{name}`: {reason}")]
    Server {
        /// Name of the server.
        name: String,
        /// Reason, and what to do.
        reason: String,
    },
}

impl ConfigError {
    /// Reason, without the name of the server.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Form(reason) | Self::Server { reason, .. } => reason,
        }
    }

    pub(crate) fn server(name: &str, reason: impl Into<String>) -> Self {
        Self::Server {
            name: name.to_owned(),
            reason: reason.into(),
        }
    }
}

/// The name of a server as the beginning of a tool's name: other characters than
/// those that a tool's name may have become `_`.
fn prefix_of(name: &str) -> String {
    let fit = |one: char| match one.is_ascii_alphanumeric() || "-.".contains(one) {
        true => one,
        false => '_',
    };
    name.chars().map(fit).chain(['_']).collect()
}
