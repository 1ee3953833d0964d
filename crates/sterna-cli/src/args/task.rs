use clap::{Args, Subcommand};

use super::{AskingArgs, ConnectArgs};

/// `sterna task …`.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Answer what a task asks, and leave it to itself
    Answer(Box<AnswerTaskArgs>),
    /// Ask that a task be called off
    Cancel(Box<TaskArgs>),
    /// Follow a task to its end, and answer what it asks
    Follow(Box<AnswerTaskArgs>),
    /// Show how a task stands
    Get(Box<TaskArgs>),
}

/// `sterna task get` and `sterna task cancel`.
#[derive(Args, Debug)]
pub(crate) struct TaskArgs {
    /// The server (not with `-- COMMAND`) and the id of the task
    #[arg(value_name = "[TARGET] TASK", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) connect: ConnectArgs,
}

/// `sterna task follow` and `sterna task answer`.
#[derive(Args, Debug)]
pub(crate) struct AnswerTaskArgs {
    /// The server (not with `-- COMMAND`) and the id of the task
    #[arg(value_name = "[TARGET] TASK", required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}
