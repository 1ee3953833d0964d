//! Tools that say something before they are done.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use sterna_flow::{Level, Progress};
use sterna_server::{AskError, Cx, Edit, Prompt, Server, Tool, ToolError};

pub(crate) fn offer(server: Server) -> Server {
    server
        .tool("test_tool_with_progress", "Reports its progress", progress)
        .tool("test_tool_with_logging", "Reports three times", three_logs)
        .tool("test_logging_tool", "Logs if asked to", logging)
        .tool(
            "test_streaming_elicitation",
            "Reports, then asks",
            streaming,
        )
        .tool(
            "test_trigger_tool_change",
            "Changes the list of tools",
            tools,
        )
        .tool(
            "test_trigger_prompt_change",
            "Changes the list of prompts",
            prompts,
        )
}

async fn progress(cx: Cx<'_>, (): ()) -> &'static str {
    for done in [0.0, 50.0, 100.0] {
        cx.progress(Progress::new(done).of(100.0));
        cx.sleep("pause", Duration::from_millis(50)).await;
    }
    "Done."
}

async fn three_logs(cx: Cx<'_>, (): ()) -> &'static str {
    for what in ["started", "processing data", "completed"] {
        cx.log(Level::Info, format_args!("Tool execution {what}"));
        cx.sleep("pause", Duration::from_millis(50)).await;
    }
    "Done."
}

async fn logging(cx: Cx<'_>, (): ()) -> &'static str {
    cx.log(Level::Info, "the logging tool was called");
    "Done."
}

#[derive(Deserialize, JsonSchema)]
struct Confirmation {
    ok: bool,
}

async fn streaming(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    cx.progress(Progress::new(1.0));
    let confirmation: Confirmation = cx.ask("confirm", "Go on?").await?;
    Ok(format!("confirmed: {}", confirmation.ok))
}

async fn tools(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    let tool = Tool::new("test_tool_that_came", came(&cx), logging);
    let edit = Edit::new().without_tool("test_tool_that_came").offer(tool);
    cx.request().changes().update(edit)?;
    Ok("The list of tools has changed.")
}

async fn prompts(cx: Cx<'_>, (): ()) -> Result<&'static str, ToolError> {
    let prompt = Prompt::new("test_prompt_that_came", came(&cx), logging);
    let edit = Edit::new()
        .without_prompt("test_prompt_that_came")
        .offer(prompt);
    cx.request().changes().update(edit)?;
    Ok("The list of prompts has changed.")
}

/// Another description every time, so that the list is another.
fn came(cx: &Cx<'_>) -> String {
    format!("Came with the call {}", cx.uuid("turn"))
}
