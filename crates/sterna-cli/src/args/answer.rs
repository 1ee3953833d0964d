use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::ConnectArgs;
use crate::duration;

/// A connection on which the server may ask.
#[derive(Args, Debug)]
pub(crate) struct AskingArgs {
    #[command(flatten)]
    pub(crate) answers: AnswerArgs,
    #[command(flatten)]
    pub(crate) connect: ConnectArgs,
}

/// Flags for the answers to the questions of an MCP server.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Answers")]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
    /// Cancel a question
    #[arg(long, value_name = "KEY")]
    pub(crate) cancel: Vec<String>,
    /// A command that writes what a model is asked for; it gets the messages on stdin
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_sampling")]
    pub(crate) sampler: Option<String>,
    /// Tell the server that no model is here
    #[arg(long)]
    pub(crate) no_sampling: bool,
    /// A folder that the server may be told of; can be given several times
    #[arg(long = "root", value_name = "FOLDER")]
    pub(crate) roots: Vec<PathBuf>,
    /// Pause before a server that asks nothing is called again, doubled each time
    /// [default: 100ms]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) pause: Option<Duration>,
}

/// Flags for the answers to the questions of any server.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Answers")]
pub(crate) struct PresetArgs {
    /// Answer a field: `key.field=text` or `key.field:=json`; `key=text` if there is only one
    #[arg(long = "answer", value_name = "KEY.FIELD=VALUE")]
    pub(crate) given: Vec<String>,
    /// A JSON file with answers by key, or `-` for stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// Agree to a question that has no fields, or whose defaults will do
    #[arg(long, value_name = "KEY")]
    pub(crate) accept: Vec<String>,
    /// Decline a question
    #[arg(long, value_name = "KEY")]
    pub(crate) decline: Vec<String>,
    /// File to keep the call in if a question has no answer, for `sterna resume`
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Times that the server may ask for more [default: 10]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) max_rounds: Option<u32>,
}
