//! A document pipeline in which a person resolves a conflict: two versions of a
//! text are merged line by line, and only the lines that differ are asked for,
//! all in one question.
//!
//! ```text
//! $ cargo run --bin documents -- --key-file keys.toml --store memory
//! listening on http://127.0.0.1:8090
//! ```

use std::collections::BTreeMap;

use axum::routing::post;
use axum::{Json, Router};
use clap::Parser as _;
use examples::application::Application;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sterna_axum::{Cx, Problem, pausing};

#[derive(Deserialize)]
struct Merge {
    ours: String,
    theirs: String,
}

/// One line on which the versions differ.
#[derive(Serialize)]
struct Conflict<'a> {
    line: usize,
    ours: &'a str,
    theirs: &'a str,
}

/// The text of each line that is in conflict, by its number.
#[derive(Deserialize, JsonSchema)]
struct Resolution {
    lines: BTreeMap<usize, String>,
}

async fn merge(cx: Cx<'_>, Json(merge): Json<Merge>) -> Result<Json<Value>, Problem> {
    let length = merge.ours.lines().count().max(merge.theirs.lines().count());
    let line = |text: &'_ str, at: usize| text.lines().nth(at).unwrap_or_default().to_owned();
    let pairs: Vec<(String, String)> = (0..length)
        .map(|at| (line(&merge.ours, at), line(&merge.theirs, at)))
        .collect();
    let conflicts: Vec<Conflict<'_>> = pairs
        .iter()
        .enumerate()
        .filter(|(_, (ours, theirs))| ours != theirs)
        .map(|(line, (ours, theirs))| Conflict { line, ours, theirs })
        .collect();
    let mut resolved = BTreeMap::new();
    if !conflicts.is_empty() {
        let words = format!(
            "{} lines are in conflict: which text is right?",
            conflicts.len()
        );
        // Not a form: a map of as many lines as there are conflicts.
        let answer: Resolution = cx.ask_json("resolve", words).showing(&conflicts).await?;
        resolved = answer.lines;
    }
    let merged = pairs
        .iter()
        .enumerate()
        .map(|(at, (ours, _))| resolved.get(&at).unwrap_or(ours));
    let merged: Vec<&str> = merged.map(String::as_str).collect();
    Ok(Json(
        json!({ "text": merged.join("\n"), "conflicts": conflicts.len() }),
    ))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let application = Application::parse();
    let resume = application.resume("https://documents.example").await?;
    let merge = pausing(merge)
        .asks_json::<Resolution>("resolve")
        .build(&resume)?;
    application
        .serve(Router::new().route("/merge", post(merge)))
        .await
}
