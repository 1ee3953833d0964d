//! A client for foreign servers: runs a script of calls and answers whatever
//! they ask.
//!
//! ```text
//! $ cargo run --bin interop_client -- interop/cases.json http://127.0.0.1:8080/mcp modern
//! {"id":"tools","got":"ask_name ask_url echo multi shed two_rounds"}
//! ```

mod answers;
mod script;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use clap::Parser;
use serde::Deserialize;
use serde_json::json;
use sterna_client::{Client, Era};
use sterna_protocol::content::ContentBlock;
use sterna_protocol::elicitation::ElicitAction;
use sterna_protocol::resource::ResourceContents;

use crate::answers::connect;
use crate::script::{Case, Script};

#[derive(Parser)]
struct Args {
    /// The calls and the answers to whatever they ask.
    script: PathBuf,
    url: String,
    #[arg(value_parser = ["modern", "legacy"])]
    era: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let text = std::fs::read_to_string(&args.script).context("cannot read the script")?;
    let Script { answers, cases } = serde_json::from_str(&text)?;
    let action = Arc::new(Mutex::new(ElicitAction::Accept));
    let era = match args.era.as_str() {
        "legacy" => Era::Legacy,
        _ => Era::Modern,
    };
    let client = connect(&args.url, era, answers, Arc::clone(&action)).await?;
    for case in cases {
        let answer = case.action.clone().unwrap_or(ElicitAction::Accept);
        *action.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        let line = match run(&client, &case).await {
            Ok(got) => json!({"id": case.id, "got": got}),
            Err(error) => json!({"id": case.id, "error": format!("{error:#}")}),
        };
        writeln!(std::io::stdout(), "{line}")?;
    }
    client.close().await;
    Ok(())
}

async fn run(client: &Client, case: &Case) -> Result<String> {
    if let Some(tool) = &case.tool {
        let result = client.call(tool).args(&case.arguments).await?;
        let error = result.is_error.unwrap_or(false);
        let text = words(result.content.first())?;
        return Ok(if error {
            format!("isError: {text}")
        } else {
            text
        });
    }
    if let Some(prompt) = &case.prompt {
        let arguments = BTreeMap::deserialize(&case.arguments)?;
        let result = client.prompt(prompt).args(arguments).await?;
        return words(result.messages.first().map(|message| &message.content));
    }
    if let Some(uri) = &case.resource {
        return match client.read(uri).await?.contents.first() {
            Some(ResourceContents::Text(text)) => Ok(text.text.clone()),
            other => bail!("not text: {other:?}"),
        };
    }
    let mut names: Vec<String> = match case.list.as_deref() {
        Some("tools") => map(client.tools().all().await?, |tool| tool.name),
        Some("prompts") => map(client.prompts().all().await?, |prompt| prompt.name),
        _ => map(client.resource_templates().all().await?, |template| {
            template.uri_template
        }),
    };
    names.sort();
    Ok(names.join(" "))
}

fn map<T>(items: Vec<T>, name: impl Fn(T) -> String) -> Vec<String> {
    items.into_iter().map(name).collect()
}

fn words(content: Option<&ContentBlock>) -> Result<String> {
    match content {
        Some(ContentBlock::Text(text)) => Ok(text.text.clone()),
        other => bail!("not text: {other:?}"),
    }
}
