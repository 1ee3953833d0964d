use serde_json::Value;
use sterna_protocol::prompt::GetPromptResult;

use super::{Asking, Place, show};
use crate::args::PromptArgs;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::rounds;
use crate::screen::Screen;

pub(crate) async fn run(args: PromptArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut place = Place::read(&args.words, &args.connect)?;
    let name = place.take("prompt")?;
    let arguments = arguments::read(place.rest, None)?;
    let asking = Asking::connect(place, &args.answers, screen).await?;
    let mut call = asking.client.prompt(name);
    for (name, value) in arguments {
        let Value::String(text) = value else {
            return Err(Failure::usage(format!(
                "`{name}`: the arguments of a prompt are text"
            )));
        };
        call = call.arg(name, text);
    }
    let reached = Box::pin(asking.rounds().call(call)).await?;
    rounds::finish(reached, screen, text)
}

pub(super) fn text(result: &GetPromptResult) -> (String, Exit) {
    (show::prompt_result(result), Exit::Done)
}
