//! `sterna discover` and `sterna complete`.

use std::collections::BTreeMap;

use serde_json::Value;
use sterna_protocol::completion::{
    CompletionArgument, CompletionContext, CompletionReference, PromptReference,
    ResourceTemplateReference,
};
use sterna_protocol::discover::DiscoverResult;

use super::NamedServer;
use crate::args::{CompleteArgs, TargetArgs};
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::session::{self, failure};
use crate::text::{Text, one_line};

pub(crate) async fn discover(args: TargetArgs, screen: Screen) -> Result<Exit, Failure> {
    let client = NamedServer::alone(&args)?.connect(screen).await?;
    let found = client.server();
    screen.result(found, text(found)?)?;
    session::close(client).await;
    Ok(Exit::Done)
}

fn text(found: &DiscoverResult) -> Result<Text, Failure> {
    let json = serde_json::to_value(found)?;
    let info = &json["_meta"]["io.modelcontextprotocol/serverInfo"];
    let of = |value: &Value| one_line(value.as_str().unwrap_or("(not said)"));
    let name = format!("{} {}", of(&info["name"]), of(&info["version"]));
    let mut text = Text::bold(name) + "\n";
    let versions: Vec<_> = found
        .supported_versions
        .iter()
        .map(ToString::to_string)
        .collect();
    text += format!("  versions      {}\n", one_line(&versions.join(", ")));
    let capabilities = json["capabilities"].as_object().into_iter().flatten();
    let names: Vec<_> = capabilities.map(|(name, _)| one_line(name)).collect();
    text += format!("  capabilities  {}\n", names.join(", "));
    if let Some(instructions) = &found.instructions {
        text += format!("\n{instructions}\n");
    }
    Ok(text)
}

pub(crate) async fn complete(args: CompleteArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut named = NamedServer::read(&args.words, &args.connect)?;
    let (name, value) = arguments::parse_text(named.take("argument")?)?;
    let mut context = CompletionContext::default();
    let known = named.rest.iter().map(|word| arguments::parse_text(word));
    let known = known.collect::<Result<BTreeMap<_, _>, _>>()?;
    context.arguments = Some(known).filter(|known| !known.is_empty());
    let reference = match (&args.prompt, &args.template) {
        (Some(prompt), _) => CompletionReference::Prompt(PromptReference::new(prompt)),
        (None, pattern) => CompletionReference::ResourceTemplate(ResourceTemplateReference::new(
            pattern.as_deref().unwrap_or_default(),
        )),
    };
    let context = Some(context).filter(|context| context.arguments.is_some());
    let client = named.connect(screen).await?;
    let argument = CompletionArgument::new(name, value);
    let completed = async {
        let completed = client.complete(reference, argument, context).await;
        completed.map_err(failure)
    };
    let completion = session::closing(&client, completed).await?;
    let lines = completion
        .values
        .iter()
        .map(|value| format!("{}\n", one_line(value)));
    screen.result(&completion, lines.collect::<String>())?;
    Ok(Exit::Done)
}
