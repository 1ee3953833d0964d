//! Completions and the manual page, made from the command line itself.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;

pub(crate) fn completions(shell: Shell, screen: Screen) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sterna", &mut text);
    let text = String::from_utf8(text)?;
    let json = serde_json::json!({"shell": shell.to_string(), "script": text});
    screen.result(&json, &text)?;
    Ok(Exit::Done)
}

pub(crate) fn man(screen: Screen) -> Result<Exit, Failure> {
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
