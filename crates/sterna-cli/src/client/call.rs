use sterna_client::{Client, Era, Error};
use sterna_protocol::jsonrpc::ErrorCode;
use sterna_protocol::legacy::{TaskSupport, ToolExecution};
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
    let call = || {
        let call = asking.client.call(tool).args(&arguments);
        match args.detach {
            // What is a task anyway need not be asked to be one.
            true => call.task(None),
            false => call,
        }
    };
    let rounds = Rounds {
        detach: args.detach,
        ..asking.rounds()
    };
    let mut reached = Box::pin(rounds.call(call())).await;
    if let Err(failed) = &reached
        && is_unknown(failed)
        && is_task_only(&asking.client, tool).await
    {
        reached = Box::pin(rounds.call(call())).await;
    }
    asking.close().await;
    rounds::finish(reached?, screen, text)
}

/// Whether the server knows no such call.
fn is_unknown(failed: &Failure) -> bool {
    let error = failed.error.downcast_ref::<Error>();
    let refusal = error.and_then(Error::rpc);
    refusal.is_some_and(|refusal| refusal.code == ErrorCode::METHOD_NOT_FOUND)
}

/// Whether a tool runs as a task only. In sessions the list says so, and a
/// client that has read it calls accordingly.
async fn is_task_only(client: &Client, tool: &str) -> bool {
    if client.era() != Era::Legacy {
        return false;
    }
    let mut tools = client.tools();
    while let Ok(Some(found)) = tools.next().await {
        if found.name == tool {
            let execution = found.extra.get("execution");
            let execution = execution.and_then(|said| said.decode::<ToolExecution>().ok());
            return execution.and_then(|said| said.task_support) == Some(TaskSupport::Required);
        }
    }
    false
}

pub(super) fn text(result: &CallToolResult) -> (String, Exit) {
    let exit = match result.is_error {
        Some(true) => Exit::ToolError,
        _ => Exit::Done,
    };
    (show::tool_result(result), exit)
}
