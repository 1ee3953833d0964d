use std::path::Path;

use serde_json::json;
use sterna_seal::{Keyring, UnixMillis};

use super::{file, list};
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::text::Text;

pub(super) fn run(path: &Path, at: UnixMillis, screen: Screen) -> Result<Exit, Failure> {
    let ring = file::read(path)?;
    let problems = problems(path, &ring, at);
    let json = json!({
        "file": path,
        "at": at.to_string(),
        "ok": problems.is_empty(),
        "problems": problems,
        "keys": list::as_json(&ring, at),
    });
    let mut text = list::as_table(&ring, at) + "\n";
    for problem in &problems {
        text += Text::bad("problem") + format!(": {problem}\n");
    }
    if problems.is_empty() {
        text += Text::good("ok") + format!(": servers can use {} at {at}.\n", path.display());
    }
    screen.result(&json, text)?;
    Ok(match problems.is_empty() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

/// Problems of a key file: errors that stop a server, and permissions.
fn problems(path: &Path, ring: &Keyring, at: UnixMillis) -> Vec<String> {
    let mut problems = Vec::new();
    match ring.minting_key(at) {
        None => problems.push("no key seals then: servers would refuse to start".to_owned()),
        Some(key) => {
            let has_successor = ring
                .keys()
                .any(|other| other.activate_at() > key.activate_at());
            if let Some(end) = key.retire_at().filter(|_| !has_successor) {
                problems.push(format!(
                    "key {} seals until {end} and no other takes over: run `sterna keys rotate`",
                    key.id()
                ));
            }
        }
    }
    if file::is_open_to_others(path) {
        problems.push("others than its owner can read the file: run `chmod 600` on it".to_owned());
    }
    problems
}
