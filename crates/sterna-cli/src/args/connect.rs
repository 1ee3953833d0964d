use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use sterna_client::Era;

use crate::duration;

/// Flags for the connection to an MCP server.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectArgs {
    /// The server as a command, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    /// The file in which servers have names [default: mcp.json or .mcp.json here]
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_json: Option<PathBuf>,
    /// Which revisions to speak: any that the server does, 2026-07-28, or earlier ones
    #[arg(long, value_enum, value_name = "ERA", default_value_t)]
    pub(crate) era: Eras,
}

/// Flags for requests to any server.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Connection")]
pub(crate) struct RequestArgs {
    /// Time that the server may be silent [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// A file with header fields to send, one `Name: value` per line
    #[arg(long, value_name = "FILE")]
    pub(crate) header_file: Option<PathBuf>,
    /// A file with the bearer token to send; $STERNA_BEARER works too
    #[arg(long, value_name = "FILE", conflicts_with = "bearer_env")]
    pub(crate) bearer_file: Option<PathBuf>,
    /// The environment variable that holds the bearer token
    #[arg(long, value_name = "NAME")]
    pub(crate) bearer_env: Option<String>,
    /// A server that the token and the header fields belong to, if its URL is not typed here
    #[arg(long, value_name = "URL")]
    pub(crate) credentials_for: Vec<String>,
    /// Never ask on the terminal
    #[arg(long)]
    pub(crate) no_input: bool,
}

/// Which revisions to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Eras {
    #[default]
    Any,
    Legacy,
    Modern,
}

impl From<Eras> for Era {
    fn from(eras: Eras) -> Self {
        match eras {
            Eras::Any => Self::Any,
            Eras::Legacy => Self::Legacy,
            Eras::Modern => Self::Modern,
        }
    }
}
