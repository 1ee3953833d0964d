//! Command line arguments.

mod answer;
mod client;
mod connect;
mod gateway;
mod install;
mod keys;
mod store;
mod token;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use answer::{AnswerArgs, AskingArgs, PresetArgs};
pub(crate) use client::{
    AnswerTaskArgs, CallArgs, CallHttpArgs, CompleteArgs, DoctorArgs, InspectServerArgs, Kind,
    ListArgs, ListenArgs, PromptArgs, ReadArgs, RecordAt, ResumeArgs, TargetArgs, TaskArgs,
    TaskCommand,
};
pub(crate) use connect::{ConnectArgs, RequestArgs};
pub(crate) use gateway::{GatewayArgs, GatewayCommand};
pub(crate) use install::{Host, InstallArgs};
pub(crate) use keys::KeysCommand;
pub(crate) use store::{StoreCommand, StoreStatsArgs};
pub(crate) use token::{InspectArgs, TokenCommand};

/// Call MCP servers and HTTP APIs, answer what they ask, keep their keys.
#[derive(Debug, Parser)]
#[command(name = "sterna", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every subcommand.
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
    /// Make the project of a server: a tool that asks, its tests, and what it is deployed with
    New(NewArgs),
    /// Run the server of this folder, build it again when a file changes, and inspect it
    Dev(DevArgs),
    /// Call a tool, and answer what it asks
    Call(Box<CallArgs>),
    /// Send a request to an HTTP API whose routes may ask, and answer what it asks
    CallHttp(Box<CallHttpArgs>),
    /// List what a server offers
    List(Box<ListArgs>),
    /// Show what a server says about itself
    Discover(Box<TargetArgs>),
    /// Check what modern and legacy clients get from a server
    Doctor(Box<DoctorArgs>),
    /// Serve many servers as one, to clients of every era
    Gateway(GatewayArgs),
    /// Show a server, its calls and its request state on a web page, on this machine only
    Inspect(Box<InspectServerArgs>),
    /// Write a server into the configuration of a host, such as an editor
    Install(Box<InstallArgs>),
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
    /// Look into the store of your own server
    #[command(subcommand)]
    Store(StoreCommand),
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

/// `sterna new`.
#[derive(Args, Debug)]
pub(crate) struct NewArgs {
    /// The folder to make; its last part is the name of the project
    pub(crate) name: PathBuf,
    /// Serve over HTTP; so it does unless --stdio is given
    #[arg(long)]
    pub(crate) http: bool,
    /// Serve on standard input and output, for a client that starts the server
    #[arg(long, conflicts_with = "http")]
    pub(crate) stdio: bool,
    /// Leave out questions: the tools take everything as arguments
    #[arg(long)]
    pub(crate) plain: bool,
    /// Use the crates of this checkout of Sterna instead of published ones
    #[arg(long, value_name = "CHECKOUT")]
    pub(crate) path: Option<PathBuf>,
}

/// `sterna dev`.
#[derive(Args, Debug)]
pub(crate) struct DevArgs {
    /// The program to run, if the project has several
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Option<String>,
    /// Build with optimizations
    #[arg(long)]
    pub(crate) release: bool,
    /// Print the address of the inspector, and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Arguments of the server
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) server_args: Vec<String>,
}

/// `sterna demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Answer the questions by itself; so it does whenever stdin is not a terminal
    #[arg(long)]
    pub(crate) auto: bool,
    /// Leave the replicas running, and say what to try on them
    #[arg(long, conflicts_with = "auto")]
    pub(crate) serve: bool,
}

/// One server process of the demo.
#[derive(Args, Debug)]
pub(crate) struct ReplicaArgs {
    #[arg(long)]
    pub(crate) name: String,
    #[arg(long)]
    pub(crate) keys: PathBuf,
    /// Which build of the server to be
    #[arg(long)]
    pub(crate) build: u8,
    /// A folder for what outlives a request
    #[arg(long, value_name = "FOLDER")]
    pub(crate) store: Option<PathBuf>,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failed, 2 usage, 3 the tool or the HTTP API returned an error,
4 input required, 5 declined or cancelled, 6 authorization needed, 7 cannot connect or no common version,
124 time-out";
