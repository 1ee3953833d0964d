use std::path::Path;

use serde_json::json;
use sterna_seal::{Key, Keyring, OsEntropy, SecretKey};

use super::file;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;

pub(super) fn run(path: &Path, comment: Option<String>, screen: Screen) -> Result<Exit, Failure> {
    let mut key = Key::new(SecretKey::generate(&mut OsEntropy)?);
    if let Some(comment) = comment {
        key = key.commented(comment);
    }
    let id = key.id().to_string();
    file::create(path, &Keyring::new([key])?.to_toml())?;
    let shown = path.display();
    screen.result(
        &json!({"file": path, "key": id}),
        format!("{shown} made, with key {id}\n"),
    )?;
    screen.note(
        "Give it to every replica, and keep it as you keep a TLS key:\n\
         whoever reads it can read and forge the state of every call.",
    );
    Ok(Exit::Done)
}
