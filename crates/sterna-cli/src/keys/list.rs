use std::path::Path;

use serde_json::{Value, json};
use sterna_seal::{Key, Keyring, UnixMillis};

use super::file;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::table::Table;
use crate::text::Text;

pub(super) fn run(path: &Path, now: UnixMillis, screen: Screen) -> Result<Exit, Failure> {
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
