use sterna_protocol::tool::CallToolResult;

use super::{Asking, Place, show};
use crate::args::CallArgs;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::rounds::{self, Rounds};
use crate::screen::Screen;

pub(crate) async fn run(args: CallArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut place = Place::read(&args.words, &args.asking.connect)?;
    let tool = place.take("tool")?;
    let arguments = arguments::read(place.rest, args.args.as_deref())?;
    let asking = Asking::connect(place, &args.asking, screen).await?;
    screen.detail(format!("calling {tool}"));
    let call = asking.client.call(tool).args(arguments);
    let rounds = Rounds {
        detach: args.detach,
        ..asking.rounds()
    };
    let reached = Box::pin(rounds.call(call)).await;
    asking.close().await;
    rounds::finish(reached?, screen, text)
}

pub(super) fn text(result: &CallToolResult) -> (String, Exit) {
    let exit = match result.is_error {
        Some(true) => Exit::ToolError,
        _ => Exit::Done,
    };
    (show::tool_result(result), exit)
}
