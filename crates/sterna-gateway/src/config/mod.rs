//! Servers behind a gateway, and how they are offered.

mod file;
mod mcp_json;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use file::GatewayFile;
pub use mcp_json::McpJson;
use serde::Deserialize;
use sterna_client::Era;
use sterna_protocol::tool::Tool;
use thiserror::Error;

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
            idle: Duration::from_secs(300),
            list_timeout: Duration::from_secs(10),
        }
    }
}

/// One server behind the gateway.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UpstreamConfig {
    /// Name of the server, in errors and in the metadata of lists.
    pub name: String,
    /// The way to it.
    pub connection: Connection,
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
            era: Era::Any,
            prefix: String::new(),
            session: SessionScope::default(),
            resume: true,
            reissue: Vec::new(),
            trust_annotations: false,
            tools: NameFilter::default(),
            prompts: NameFilter::default(),
            resources: NameFilter::default(),
        }
    }
}

impl UpstreamConfig {
    /// Returns `true` if a lost call of `tool` may be sent anew.
    pub(crate) fn may_reissue(&self, tool: &Tool) -> bool {
        let named = self.reissue.iter();
        let is_named = named
            .into_iter()
            .any(|pattern| matches(pattern, &tool.name));
        let is_declared = tool.annotations.as_ref().is_some_and(|hints| {
            hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
        });
        is_named || self.trust_annotations && is_declared
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
