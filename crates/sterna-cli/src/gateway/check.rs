//! `sterna gateway check`: what to expect of each server.

use std::path::Path;

use serde_json::json;
use sterna_gateway::{GatewayConfig, Surveyed, survey};

use super::settings::GatewaySettings;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::screen::Screen;
use crate::table::Table;
use crate::text::{Text, one_line};

pub(super) async fn run(file: &Path, screen: Screen) -> Result<Exit, Failure> {
    interrupt::or("interrupted", look(file, screen)).await
}

async fn look(file: &Path, screen: Screen) -> Result<Exit, Failure> {
    let settings = GatewaySettings::read(file)?;
    let config = GatewayConfig::new(settings.servers);
    let looked = survey(&config).await;
    let found = looked.map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    let is_good = !found.is_empty() && found.iter().all(|one| one.problems.is_empty());
    screen.result(&json!({"ok": is_good, "servers": found}), text(&found))?;
    Ok(match is_good {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

fn text(found: &[Surveyed]) -> Text {
    let mut table = Table::new(&[
        "SERVER",
        "TRANSPORT",
        "CREDENTIAL",
        "ERA",
        "TOOLS",
        "PROMPTS",
        "RESOURCES",
        "ASKS",
        "PAUSED CALLS",
    ]);
    for one in found {
        let resources = one.resources + one.templates;
        table.row([
            one.server.clone(),
            one.transport.to_owned(),
            one.credential.to_owned(),
            one.era.unwrap_or("-").to_owned(),
            one.tools.to_string(),
            one.prompts.to_string(),
            resources.to_string(),
            match one.asks.is_empty() {
                true => "-".to_owned(),
                false => one.asks.join(" "),
            },
            one.survival
                .map_or_else(|| "-".to_owned(), |survival| survival.to_string()),
        ]);
    }
    let mut text = table.to_text();
    for one in found {
        for problem in &one.problems {
            text += Text::bad("problem")
                + format!(": {}: {}\n", one_line(&one.server), one_line(problem));
        }
    }
    text
}
