//! The `sterna` command: call MCP servers, answer what they ask, keep their
//! keys.

mod args;
mod exit;

mod clock;
mod duration;
mod screen;
mod table;

mod generate;
mod keys;
mod token;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use exit::{Exit, Failure};
use screen::Screen;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let screen = Screen::new(&cli.global);
    match run(cli.command, screen) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            screen.failure(&failure);
            failure.exit.into()
        }
    }
}

fn run(command: Command, screen: Screen) -> Result<Exit, Failure> {
    match command {
        Command::Completions { shell } => generate::completions(shell, screen),
        Command::Keys(command) => keys::run(command, screen),
        Command::Man => generate::man(screen),
        Command::Token(command) => token::run(command, screen),
    }
}
