//! `sterna keys list` and `sterna keys check`.

use std::path::Path;

use serde_json::{Value, json};
use sterna_seal::{Key, Keyring, UnixMillis};

use super::file;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::table::Table;
use crate::text::Text;

pub(super) fn list(path: &Path, now: UnixMillis, screen: Screen) -> Result<Exit, Failure> {
    let ring = file::read(path)?;
    screen.result(&json!({"keys": as_json(&ring, now)}), as_table(&ring, now))?;
    Ok(Exit::Done)
}

pub(super) fn as_json(ring: &Keyring, now: UnixMillis) -> Vec<Value> {
    let show = |key: &Key| {
        json!({
            "id": key.id().to_string(),
            "does": does(ring, key, now),
            "activateAt": activation(key).map(|at| at.to_string()),
            "retireAt": key.retire_at().map(|at| at.to_string()),
            "comment": key.comment(),
        })
    };
    ring.keys().map(show).collect()
}

pub(super) fn as_table(ring: &Keyring, now: UnixMillis) -> Text {
    let mut table = Table::new(&["key", "now", "seals from", "opens until", "comment"]);
    for key in ring.keys() {
        let from = activation(key).map_or_else(|| "always".to_owned(), |at| at.to_string());
        let until = key
            .retire_at()
            .map_or_else(|| "for ever".to_owned(), |at| at.to_string());
        table.row([
            key.id().to_string(),
            does(ring, key, now).to_owned(),
            from,
            until,
            key.comment().unwrap_or_default().to_owned(),
        ]);
    }
    table.to_text()
}

fn activation(key: &Key) -> Option<UnixMillis> {
    Some(key.activate_at()).filter(|at| *at > UnixMillis::MIN)
}

fn does(ring: &Keyring, key: &Key, now: UnixMillis) -> &'static str {
    let seals = ring
        .minting_key(now)
        .is_some_and(|minting| minting.id() == key.id());
    match (seals, key.is_retired(now)) {
        (true, _) => "seals, opens",
        (false, true) => "retired",
        (false, false) => "opens",
    }
}

pub(super) fn check(path: &Path, at: UnixMillis, screen: Screen) -> Result<Exit, Failure> {
    let ring = file::read(path)?;
    let problems = problems(path, &ring, at);
    let json = json!({
        "file": path,
        "at": at.to_string(),
        "ok": problems.is_empty(),
        "problems": problems,
        "keys": as_json(&ring, at),
    });
    let mut text = as_table(&ring, at) + "\n";
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
