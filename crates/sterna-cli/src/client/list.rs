use serde_json::{Map, Value};
use sterna_client::Client;
use sterna_protocol::prompt::Prompt;
use sterna_protocol::tool::Tool;

use super::NamedServer;
use crate::args::{Kind, ListArgs};
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::session::{self, failure};
use crate::table::Table;
use crate::text::Text;

pub(crate) async fn run(args: ListArgs, screen: Screen) -> Result<Exit, Failure> {
    let client = NamedServer::alone(&args.target)?.connect(screen).await?;
    let listed = list_all(&client, args.only);
    let (json, text) = session::closing(&client, listed).await?;
    screen.result(&json, text)?;
    Ok(Exit::Done)
}

async fn list_all(
    client: &Client,
    only: Option<Kind>,
) -> Result<(Map<String, Value>, Text), Failure> {
    let mut json = Map::new();
    let mut text = Text::default();
    for kind in [Kind::Tools, Kind::Prompts, Kind::Resources, Kind::Templates] {
        if only.map_or_else(|| offers(client, kind), |only| only == kind) {
            let (name, value, table) = list(client, kind).await?;
            json.insert(name.to_owned(), value);
            if !text.is_empty() {
                text += "\n";
            }
            text += table;
        }
    }
    Ok((json, text))
}

/// Returns true if the server declares the list.
fn offers(client: &Client, kind: Kind) -> bool {
    let capabilities = &client.server().capabilities;
    match kind {
        Kind::Tools => capabilities.tools.is_some(),
        Kind::Prompts => capabilities.prompts.is_some(),
        Kind::Resources | Kind::Templates => capabilities.resources.is_some(),
    }
}

async fn list(client: &Client, kind: Kind) -> Result<(&'static str, Value, Text), Failure> {
    Ok(match kind {
        Kind::Tools => {
            let found = client.tools().all().await.map_err(failure)?;
            let mut table = Table::new(&["tool", "arguments", "about"]);
            for tool in &found {
                table.row([
                    &tool.name,
                    &tool_arguments(tool),
                    about(&tool.title, &tool.description),
                ]);
            }
            ("tools", serde_json::to_value(&found)?, table.to_text())
        }
        Kind::Prompts => {
            let found = client.prompts().all().await.map_err(failure)?;
            let mut table = Table::new(&["prompt", "arguments", "about"]);
            for prompt in &found {
                let arguments = prompt_arguments(prompt);
                table.row([
                    &prompt.name,
                    &arguments,
                    about(&prompt.title, &prompt.description),
                ]);
            }
            ("prompts", serde_json::to_value(&found)?, table.to_text())
        }
        Kind::Resources => {
            let found = client.resources().all().await.map_err(failure)?;
            let mut table = Table::new(&["resource", "name", "about"]);
            for resource in &found {
                let about = about(&resource.title, &resource.description);
                table.row([&resource.uri, &resource.name, about]);
            }
            ("resources", serde_json::to_value(&found)?, table.to_text())
        }
        Kind::Templates => {
            let found = client.resource_templates().all().await.map_err(failure)?;
            let mut table = Table::new(&["template", "name", "about"]);
            for template in &found {
                let about = about(&template.title, &template.description);
                table.row([&template.uri_template, &template.name, about]);
            }
            (
                "resourceTemplates",
                serde_json::to_value(&found)?,
                table.to_text(),
            )
        }
    })
}

fn about<'a>(title: &'a Option<String>, description: &'a Option<String>) -> &'a String {
    static NOTHING: String = String::new();
    description.as_ref().or(title.as_ref()).unwrap_or(&NOTHING)
}

/// The arguments a tool takes, those it can do without in brackets.
fn tool_arguments(tool: &Tool) -> String {
    let schema = serde_json::to_value(&tool.input_schema).unwrap_or_default();
    let required = |name: &str| {
        let required = schema["required"].as_array().into_iter().flatten();
        required.into_iter().any(|each| each == name)
    };
    let names = schema["properties"].as_object().into_iter().flatten();
    let names = names.map(|(name, _)| optional(name, required(name)));
    names.collect::<Vec<_>>().join(" ")
}

fn prompt_arguments(prompt: &Prompt) -> String {
    let arguments = prompt.arguments.iter().flatten();
    let names = arguments.map(|argument| optional(&argument.name, argument.required == Some(true)));
    names.collect::<Vec<_>>().join(" ")
}

fn optional(name: &str, required: bool) -> String {
    match required {
        true => name.to_owned(),
        false => format!("[{name}]"),
    }
}
