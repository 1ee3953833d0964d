use std::collections::BTreeMap;

use sterna_protocol::completion::{
    CompletionArgument, CompletionContext, CompletionReference, PromptReference,
    ResourceTemplateReference,
};

use super::Place;
use crate::args::CompleteArgs;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::session::{self, failure};
use crate::table::one_line;

pub(crate) async fn run(args: CompleteArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut place = Place::read(&args.words, &args.connect)?;
    let (name, value) = arguments::parse_text(place.take("argument")?)?;
    let mut context = CompletionContext::default();
    let known = place.rest.iter().map(|word| arguments::parse_text(word));
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
