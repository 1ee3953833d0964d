use std::collections::BTreeMap;

use serde_json::Value;
use sterna_protocol::completion::{
    CompletionArgument, CompletionContext, CompletionReference, PromptReference,
    ResourceTemplateReference,
};

use super::Place;
use crate::args::CompleteArgs;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::session::failure;
use crate::table::one_line;

pub(crate) async fn run(args: CompleteArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut place = Place::read(&args.words, &args.connect)?;
    let (name, value) = text_argument(place.take("argument")?)?;
    let mut context = CompletionContext::default();
    let known = place.rest.iter().map(|word| text_argument(word));
    let known = known.collect::<Result<BTreeMap<_, _>, _>>()?;
    context.arguments = Some(known).filter(|known| !known.is_empty());
    let reference = match (&args.prompt, &args.template) {
        (Some(prompt), _) => CompletionReference::Prompt(PromptReference::new(prompt)),
        (None, pattern) => CompletionReference::ResourceTemplate(ResourceTemplateReference::new(
            pattern.as_deref().unwrap_or_default(),
        )),
    };
    let context = Some(context).filter(|context| context.arguments.is_some());
    let client = place.connect(screen).await?;
    let completion = client
        .complete(reference, CompletionArgument::new(name, value), context)
        .await
        .map_err(failure)?;
    let lines = completion
        .values
        .iter()
        .map(|value| format!("{}\n", one_line(value)));
    screen.result(&completion, lines.collect::<String>())?;
    Ok(Exit::Done)
}

fn text_argument(word: &str) -> Result<(String, String), Failure> {
    match arguments::parse(word)? {
        (name, Value::String(text)) => Ok((name, text)),
        (name, _) => Err(Failure::usage(format!(
            "`{name}`: what is completed is text"
        ))),
    }
}
