//! `sterna keys`: the file that every replica shares.

mod check;
pub(crate) mod file;
mod list;
mod new;
mod rotate;

use crate::args::KeysCommand;
use crate::clock;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;

pub(crate) fn run(command: KeysCommand, screen: Screen) -> Result<Exit, Failure> {
    let now = clock::now();
    match command {
        KeysCommand::New { file, comment } => new::run(&file, comment, screen),
        KeysCommand::List { file } => list::run(&file, now, screen),
        KeysCommand::Rotate {
            file,
            rollout,
            longest_round,
            comment,
            dry_run,
        } => {
            let plan = rotate::Plan {
                activate_at: now.after(rollout),
                longest_round,
                comment,
            };
            rotate::run(&file, plan, dry_run, now, screen)
        }
        KeysCommand::Check { file, at } => check::run(&file, at.unwrap_or(now), screen),
    }
}
