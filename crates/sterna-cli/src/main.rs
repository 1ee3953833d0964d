//! The `sterna` command: call MCP servers and HTTP APIs, answer what they ask,
//! keep their keys.

// Modules use those above them, never those below.
mod duration;
mod environment;
mod exit;

mod args;
mod text;

mod screen;

mod arguments;
mod interrupt;
mod private_file;
mod progress;
mod suggest;
mod table;
mod target;
mod trace;

mod credentials;

mod config;

mod ask;

mod session_questions;

mod session;

mod rounds;

mod http_calls;

mod store;

mod client;
mod demo;
mod gateway;
mod keys;

mod dev;
mod install;
mod new;
mod token;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser};
use clap_complete::Shell;
use mimalloc::MiMalloc;

use args::{Cli, Command};
use exit::{Exit, Failure};
use screen::Screen;

/// A request allocates some twenty times, and each costs fewer instructions here than in the C
/// library: `cargo xtask callgrind --mimalloc` counts both.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

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
        Command::Call(args) => session::block_on(client::call(*args, screen)),
        Command::CallHttp(args) => session::block_on(client::call_http(*args, screen)),
        Command::Complete(args) => session::block_on(client::complete(*args, screen)),
        Command::Completions { shell } => completions(shell, screen),
        Command::Demo(args) => session::block_on(demo::run(args, screen)),
        Command::DemoReplica(args) => session::block_on(demo::replica(args)),
        Command::Dev(args) => session::block_on(dev::run(args, screen)),
        Command::Discover(args) => session::block_on(client::discover(*args, screen)),
        Command::Doctor(args) => session::block_on(client::doctor(*args, screen)),
        Command::Gateway(args) => session::block_on(gateway::run(args, screen)),
        Command::Inspect(args) => session::block_on(client::inspect(*args, screen)),
        Command::Install(args) => install::run(*args, screen),
        Command::Keys(command) => keys::run(command, screen),
        Command::List(args) => session::block_on(client::list(*args, screen)),
        Command::Listen(args) => session::block_on(client::listen(*args, screen)),
        Command::Man => man(screen),
        Command::New(args) => new::run(args, screen),
        Command::Prompt(args) => session::block_on(client::prompt(*args, screen)),
        Command::Read(args) => session::block_on(client::read(*args, screen)),
        Command::Resume(args) => session::block_on(client::resume(*args, screen)),
        Command::Store(command) => session::block_on(store::run(command, screen)),
        Command::Task(command) => session::block_on(client::task(command, screen)),
        Command::Token(command) => token::run(command, screen),
    }
}

/// Prints the completions of a shell, made from the command line itself.
fn completions(shell: Shell, screen: Screen) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sterna", &mut text);
    let text = String::from_utf8(text)?;
    let json = serde_json::json!({"shell": shell.to_string(), "script": text});
    screen.result(&json, &text)?;
    Ok(Exit::Done)
}

/// Prints the manual page, made from the command line itself.
fn man(screen: Screen) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for subcommand in command.get_subcommands() {
        if !subcommand.is_hide_set() && subcommand.get_name() != "help" {
            let title = format!("sterna-{}", subcommand.get_name());
            let page = clap_mangen::Man::new(subcommand.clone()).title(title);
            page.render(&mut text)?;
        }
    }
    let text = String::from_utf8(text)?;
    screen.result(&serde_json::json!({"page": text}), &text)?;
    Ok(Exit::Done)
}
