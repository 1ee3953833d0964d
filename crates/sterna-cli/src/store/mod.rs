//! `sterna store`, and stores for other commands.

mod open;
mod stats;

use crate::args::StoreCommand;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::screen::Screen;

pub(crate) use open::open_survey;

pub(crate) async fn run(command: StoreCommand, screen: Screen) -> Result<Exit, Failure> {
    let StoreCommand::Stats(args) = command;
    interrupt::or("interrupted", stats::run(args, screen)).await
}
