//! Tools that run as tasks.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use sterna_server::{AskError, Cx, Server, TaskMode, Tool, ToolError};

pub(crate) fn offer(server: Server) -> Server {
    let optional = TaskMode::Optional;
    server
        .tool("greet", "Greets", greet)
        .offer(Tool::new("slow_compute", "Takes its time", slow_compute).task(optional))
        .offer(Tool::new("failing_job", "Fails as a tool", failing_job).task(TaskMode::Always))
        .offer(Tool::new("protocol_error_job", "Fails as a request", broken_job).task(optional))
        .offer(Tool::new("confirm_delete", "Asks before it deletes", confirm_delete).task(optional))
        .offer(Tool::new("multi_input", "Asks twice at once", multi_input).task(optional))
        .offer(
            Tool::new(
                "test_tool_with_task",
                "Asks, then takes its time",
                task_on_demand,
            )
            .task(optional)
            .task_on_demand(),
        )
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: String,
}

async fn greet(_: Cx<'_>, args: Greet) -> String {
    format!("Hello, {}!", args.name)
}

#[derive(Deserialize, JsonSchema)]
struct Compute {
    seconds: f64,
    label: Option<String>,
}

async fn slow_compute(cx: Cx<'_>, args: Compute) -> Result<String, ToolError> {
    let pause = Duration::try_from_secs_f64(args.seconds)?;
    if !pause.is_zero() {
        cx.sleep("compute", pause).await;
    }
    Ok(format!("Computed {}.", args.label.unwrap_or_default()))
}

async fn failing_job(cx: Cx<'_>, (): ()) -> Result<(), ToolError> {
    cx.sleep("work", Duration::from_secs(1)).await;
    Err(ToolError::new("The job failed."))
}

/// A fault of the server itself is the one thing that makes a call fail without
/// a result.
#[expect(clippy::panic, reason = "the suite wants to see a broken handler")]
async fn broken_job(_: Cx<'_>, (): ()) {
    panic!("this handler is broken on purpose");
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    filename: String,
}

async fn confirm_delete(cx: Cx<'_>, args: Delete) -> Result<String, AskError> {
    let question = format!("Delete {}?", args.filename);
    let confirmed: bool = cx.ask("confirm", question).await?;
    Ok(match confirmed {
        true => format!("{} is gone.", args.filename),
        false => format!("{} is still there.", args.filename),
    })
}

async fn multi_input(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (first, second) = tokio::join!(
        cx.confirm("first", "Is the first right?"),
        cx.confirm("second", "Is the second right?"),
    );
    Ok(format!("{} {}", first?, second?))
}

async fn task_on_demand(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "What is your name?").await?;
    cx.become_task().await;
    cx.sleep("work", Duration::from_millis(200)).await;
    Ok(format!("Done for {name}."))
}
