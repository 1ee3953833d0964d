//! What was typed.

mod keys;
mod token;

use clap::{Args, Parser, Subcommand};

pub(crate) use keys::KeysCommand;
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
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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
