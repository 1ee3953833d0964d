use sterna_protocol::prompt::GetPromptResult;

use super::{Asking, Place, show};
use crate::args::PromptArgs;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::rounds;
use crate::screen::Screen;

pub(crate) async fn run(args: PromptArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut place = Place::read(&args.words, &args.asking.connect)?;
    let name = place.take("prompt")?;
    let arguments = place.rest.iter().map(|word| arguments::parse_text(word));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let asking = Asking::connect(place, &args.asking, screen).await?;
    let mut call = asking.client.prompt(name);
    for (name, text) in arguments {
        call = call.arg(name, text);
    }
    let reached = Box::pin(asking.rounds().call(call)).await;
    asking.close().await;
    rounds::finish(reached?, screen, text)
}

pub(super) fn text(result: &GetPromptResult) -> (String, Exit) {
    (show::prompt_result(result), Exit::Done)
}
