//! What was typed.

mod answer;
mod client;
mod connect;
mod demo;
mod keys;
mod task;
mod token;

use clap::{Args, Parser, Subcommand};

pub(crate) use answer::{AnswerArgs, AskingArgs};
pub(crate) use client::{
    CallArgs, CompleteArgs, DoctorArgs, Kind, ListArgs, ListenArgs, PromptArgs, ReadArgs,
    ResumeArgs, TargetArgs,
};
pub(crate) use connect::ConnectArgs;
pub(crate) use demo::{DemoArgs, ReplicaArgs};
pub(crate) use keys::KeysCommand;
pub(crate) use task::{AnswerTaskArgs, TaskArgs, TaskCommand};
pub(crate) use token::{InspectArgs, TokenCommand};

/// Call MCP servers, answer what they ask, keep their keys.
#[derive(Debug, Parser)]
#[command(name = "sterna", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every subcommand understands.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Write the result as JSON, with nothing else on stdout
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
    /// Say nothing but the result and errors
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Say more: each round, every message without its secrets, what a server command says
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        help_heading = "Output"
    )]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a call that outlives the servers it runs on
    Demo(DemoArgs),
    #[command(hide = true)]
    DemoReplica(ReplicaArgs),
    /// Call a tool, and answer what it asks
    Call(Box<CallArgs>),
    /// List what a server offers
    List(Box<ListArgs>),
    /// Show what a server says about itself
    Discover(Box<TargetArgs>),
    /// Check what modern and legacy clients get from a server
    Doctor(Box<DoctorArgs>),
    /// Read a resource
    Read(Box<ReadArgs>),
    /// Get a prompt
    Prompt(Box<PromptArgs>),
    /// Complete an argument of a prompt or a resource template
    Complete(Box<CompleteArgs>),
    /// Go on with a call that was saved, here or on another machine
    Resume(Box<ResumeArgs>),
    /// Look at, answer, follow or cancel a call that goes on as a task
    #[command(subcommand)]
    Task(TaskCommand),
    /// Show what changes at a server, until interrupted
    Listen(Box<ListenArgs>),
    /// Make, rotate and check the keys that seal request state
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Look into request state that your own server has sealed
    #[command(subcommand)]
    Token(TokenCommand),
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failed, 2 usage, 3 the tool returned an error, 4 input required,
5 declined or cancelled, 6 authorization needed, 7 cannot connect or no common version,
124 time-out";
