//! `sterna keys`: the file that every replica shares.

pub(crate) mod file;
mod list;
mod rotate;

use std::path::Path;

use serde_json::json;
use sterna_seal::{Key, Keyring, OsEntropy, SecretKey};

use crate::args::KeysCommand;
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;

pub(crate) fn run(command: KeysCommand, screen: Screen) -> Result<Exit, Failure> {
    let now = environment::now();
    match command {
        KeysCommand::New { file, comment } => create(&file, comment, screen),
        KeysCommand::List { file } => list::list(&file, now, screen),
        KeysCommand::Rotate {
            file,
            rollout,
            longest_round,
            comment,
            dry_run,
        } => {
            let plan = rotate::Plan {
                activate_at: now + rollout,
                longest_round,
                comment,
            };
            rotate::run(&file, plan, dry_run, now, screen)
        }
        KeysCommand::Check { file, at } => list::check(&file, at.unwrap_or(now), screen),
    }
}

/// Makes a key file with one key, and returns its id.
pub(crate) fn make(path: &Path, comment: Option<String>) -> Result<String, Failure> {
    let mut key = Key::new(SecretKey::generate(&mut OsEntropy)?);
    if let Some(comment) = comment {
        key = key.commented(comment);
    }
    let id = key.id().to_string();
    file::create(path, &Keyring::new([key])?.to_toml())?;
    Ok(id)
}

fn create(path: &Path, comment: Option<String>, screen: Screen) -> Result<Exit, Failure> {
    let id = make(path, comment)?;
    let shown = path.display();
    screen.result(
        &json!({"file": path, "key": id}),
        format!("{shown} made, with key {id}\n"),
    )?;
    screen.note(
        "Give it to every replica, and keep it as you keep a TLS key:\n\
         anyone who reads it can read and forge the state of every call.",
    );
    Ok(Exit::Done)
}
