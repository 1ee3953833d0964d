//! `sterna store stats`: the rows of a store, and how long they are kept.

use serde_json::{Value, json};
use sterna_store::{KeptRows, StoreUsage};

use super::open::{failure, open_survey};
use crate::args::StoreStatsArgs;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::table::Table;
use crate::text::Text;

pub(super) async fn run(args: StoreStatsArgs, screen: Screen) -> Result<Exit, Failure> {
    let (rings, schema) = (args.rings.as_ref(), args.schema.as_deref());
    let survey = open_survey(&args.stores, rings, schema).await?;
    let usage = survey.survey_usage().await;
    let usage = usage.map_err(|error| failure("the rows cannot be counted", error))?;
    screen.result(&to_json(&usage), text(&usage))?;
    Ok(Exit::Done)
}

/// Rows of each kind, in the order of the table.
fn kinds(usage: &StoreUsage) -> Vec<(String, KeptRows)> {
    let tasks = usage.tasks.iter();
    let tasks = tasks.map(|(status, rows)| (format!("tasks, {}", status.as_str()), *rows));
    let others = [
        ("effects", usage.effects),
        ("rounds", usage.rounds),
        ("blobs", usage.blobs),
    ];
    let others = others.map(|(name, rows)| (name.to_owned(), rows));
    tasks.chain(others).collect()
}

fn to_json(usage: &StoreUsage) -> Value {
    let kept = |rows: &KeptRows| {
        json!({
            "rows": rows.rows,
            "expired": rows.expired,
            "unlimited": rows.unlimited,
            "until": rows.until.map(|until| until.to_string()),
        })
    };
    let tasks = usage.tasks.iter();
    let tasks = tasks.map(|(status, rows)| (status.as_str().to_owned(), kept(rows)));
    json!({
        "now": usage.now.to_string(),
        "tasks": tasks.collect::<serde_json::Map<_, _>>(),
        "owners": usage.owners,
        "mostPerOwner": usage.most_per_owner,
        "effects": kept(&usage.effects),
        "unreportedEffects": usage.unreported_effects,
        "rounds": kept(&usage.rounds),
        "blobs": kept(&usage.blobs),
        "diskBytes": usage.disk_bytes,
    })
}

fn text(usage: &StoreUsage) -> Text {
    let mut table = Table::new(&["rows", "number", "expired", "the last is kept until"]);
    for (name, rows) in kinds(usage) {
        let until = match (rows.unlimited, rows.until) {
            (0, Some(until)) => until.to_string(),
            (0, None) => "-".to_owned(),
            (unlimited, _) => format!("{unlimited} without an end"),
        };
        table.row([name, rows.rows.to_string(), rows.expired.to_string(), until]);
    }
    let mut text = table.to_text();
    text += format!(
        "\n{} with unfinished tasks, at most {} of one (the quota is TaskConfig::per_owner)\n",
        plural(usage.owners, "owner"),
        usage.most_per_owner,
    );
    if usage.unreported_effects > 0 {
        text += format!(
            "{} claimed and not reported\n",
            plural(usage.unreported_effects, "effect")
        );
    }
    if let Some(bytes) = usage.disk_bytes {
        text += format!("{} on the disk\n", size(bytes));
    }
    text
}

fn plural(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// A size with its unit.
fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    match unit {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_950, "1.9 kB"),
            (45_100_000, "45.1 MB"),
            (2_600_000_000, "2.6 GB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
