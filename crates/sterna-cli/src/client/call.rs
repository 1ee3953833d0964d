//! `sterna call`, `sterna prompt` and `sterna read`.

use sterna_client::{Client, Era, Error};
use sterna_protocol::jsonrpc::ErrorCode;
use sterna_protocol::legacy::{TaskSupport, ToolExecution};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

use super::{Asking, NamedServer, advice, show};
use crate::args::{CallArgs, PromptArgs, ReadArgs};
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::rounds::{self, Rounds};
use crate::screen::Screen;
use crate::text::Text;

pub(crate) async fn call(args: CallArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut named = NamedServer::read(&args.words, &args.asking.connect)?;
    let tool = named.take("tool")?;
    let arguments = arguments::read(named.rest, args.args.as_deref())?;
    let asking = Asking::connect(named, &args.asking, screen).await?;
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
    let reached = advice::about_call(reached, &asking.client, tool, &arguments, screen).await;
    asking.close(&reached).await;
    rounds::finish(reached?, screen, text)
}

/// Returns true if the server does not know the method.
fn is_unknown(failed: &Failure) -> bool {
    let error = failed.error.downcast_ref::<Error>();
    let refusal = error.and_then(Error::rpc);
    refusal.is_some_and(|refusal| refusal.code == ErrorCode::METHOD_NOT_FOUND)
}

/// Returns true if a tool only runs as a task. In sessions the list says so, and a
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

pub(super) fn text(result: &CallToolResult) -> (Text, Exit) {
    let exit = match result.is_error {
        Some(true) => Exit::ToolError,
        _ => Exit::Done,
    };
    (show::tool_result(result), exit)
}

pub(crate) async fn prompt(args: PromptArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut named = NamedServer::read(&args.words, &args.asking.connect)?;
    let name = named.take("prompt")?;
    let arguments = named.rest.iter().map(|word| arguments::parse_text(word));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let asking = Asking::connect(named, &args.asking, screen).await?;
    let mut call = asking.client.prompt(name);
    for (name, text) in arguments {
        call = call.arg(name, text);
    }
    let reached = Box::pin(asking.rounds().call(call)).await;
    let reached = advice::about_prompt(reached, &asking.client, name).await;
    asking.close(&reached).await;
    rounds::finish(reached?, screen, prompt_text)
}

pub(super) fn prompt_text(result: &GetPromptResult) -> (Text, Exit) {
    (show::prompt_result(result), Exit::Done)
}

pub(crate) async fn read(args: ReadArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut named = NamedServer::read(&args.words, &args.asking.connect)?;
    let uri = named.take("resource")?;
    let asking = Asking::connect(named, &args.asking, screen).await?;
    let reached = Box::pin(asking.rounds().call(asking.client.read(uri))).await;
    asking.close(&reached).await;
    rounds::finish(reached?, screen, resource_text)
}

pub(super) fn resource_text(result: &ReadResourceResult) -> (Text, Exit) {
    (show::resource_result(result).into(), Exit::Done)
}
