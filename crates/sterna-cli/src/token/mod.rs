//! `sterna token`: looking into request state that our own server sealed.

mod checks;
mod inspect;
mod journal;

use crate::args::TokenCommand;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;

pub(crate) fn run(command: TokenCommand, screen: Screen) -> Result<Exit, Failure> {
    match command {
        TokenCommand::Inspect(args) => inspect::run(&args, screen),
    }
}
