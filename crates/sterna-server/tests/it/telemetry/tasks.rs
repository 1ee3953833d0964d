use expect_test::expect;
use serde_json::json;
use sterna_server::{AskError, Cx, Server, TaskMode, Tool};

use super::capture::Capture;
use crate::mcp::accept;
use crate::mcp::tasks::Fleet;

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "Name?").await?;
    Ok(format!("Hello, {name}!"))
}

#[tokio::test(start_paused = true)]
async fn every_time_a_worker_holds_a_task_is_a_span() {
    let (capture, _guard) = Capture::start();
    let mut fleet = Fleet::new();
    let greet = Tool::new("greet", "Greets", greet).task(TaskMode::Always);
    let client = fleet.instance(Server::new("watched", "1").offer(greet));
    let task = client.begin("greet", json!({})).await;
    client.until(&task, &["input_required"]).await;
    let answers = json!({"name": accept(json!({"name": "Ada"}))});
    client.update(&task, answers).await;
    client.ended(&task).await;
    fleet.kill().await;
    let spans = capture.spans("sterna::tasks");
    let shown: String = spans
        .iter()
        .map(|span| {
            let told = ["gen_ai.tool.name", "sterna.attempt", "sterna.outcome"];
            told.map(|name| span.get(name).unwrap_or_default())
                .join(" ")
                + "\n"
        })
        .collect();
    expect![[r#"
        greet 1 waiting
        greet 1 finished
    "#]]
    .assert_eq(&shown);
}
