use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sterna_seal::{Key, Keyring, OsEntropy, SecretKey, UnixMillis};

use super::{file, list};
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::text::Text;

/// Plan of a rotation.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) activate_at: UnixMillis,
    pub(super) longest_round: Duration,
    pub(super) comment: Option<String>,
}

pub(super) fn run(
    path: &Path,
    plan: Plan,
    dry_run: bool,
    now: UnixMillis,
    screen: Screen,
) -> Result<Exit, Failure> {
    let old = file::read(path)?;
    let secret = SecretKey::generate(&mut OsEntropy)?;
    let new_id = Key::new(secret.clone()).id();
    let mut ring = old
        .rotate(secret, plan.activate_at, plan.longest_round, now)
        .map_err(|error| Failure::usage(error).hint("give --rollout more than no time"))?;
    if let Some(comment) = plan.comment {
        let note = |key: &Key| match key.id() == new_id {
            true => key.clone().commented(comment.as_str()),
            false => key.clone(),
        };
        ring = Keyring::new(ring.keys().map(note))?;
    }
    if !dry_run {
        let was_open = file::is_open_to_others(path);
        file::replace(path, &ring.to_toml())?;
        if was_open && !file::is_open_to_others(path) {
            let file = path.display();
            screen.warn(format!(
                "others than its owner could read {file}; it has mode 0600 now. Its keys may be \
                 known to them. Servers that run as another user need a group with mode 0640"
            ));
        }
    }
    let safe_at = ring.keys().filter_map(Key::retire_at).max();
    let json = json!({
        "file": path,
        "written": !dry_run,
        "key": new_id.to_string(),
        "deployBefore": plan.activate_at.to_string(),
        "oldKeysRetireAt": safe_at.map(|at| at.to_string()),
        "keys": list::as_json(&ring, now),
    });
    screen.result(
        &json,
        text(path, &ring, &plan.activate_at, safe_at, dry_run, now),
    )?;
    Ok(Exit::Done)
}

fn text(
    path: &Path,
    ring: &Keyring,
    activate_at: &UnixMillis,
    safe_at: Option<UnixMillis>,
    dry_run: bool,
    now: UnixMillis,
) -> Text {
    let (file, did) = (path.display(), if dry_run { "would get" } else { "has" });
    let mut text = Text::from(format!("{file} {did} a new key.\n\n"));
    text += list::as_table(ring, now);
    text += format!(
        "\n1. Deploy the file to every replica before {activate_at}, and have them reload it.\n\
         2. At {activate_at} the new key takes over by itself.\n"
    );
    if let Some(at) = safe_at {
        text += format!("3. From {at} on the old keys open nothing; they can be taken out.\n");
    }
    text
}
