use serde_json::json;
use sterna_server::{Cx, Server, TaskMode, Tool, ToolError};

use super::super::{accept, show};
use super::{Fleet, said};

async fn order(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let what: String = cx.ask("what", "What?").await?;
    cx.become_task().await;
    let size: u8 = cx.ask("size", format!("How many {what}?")).await?;
    Ok(format!("{size} {what}"))
}

async fn at_once(cx: Cx<'_>, (): ()) -> &'static str {
    cx.become_task().await;
    "done"
}

fn server() -> Server {
    let order = Tool::new("order", "", order).task(TaskMode::Optional);
    let at_once = Tool::new("at_once", "", at_once).task(TaskMode::Always);
    Server::new("rounds", "1")
        .offer(order.task_on_demand())
        .offer(at_once.task_on_demand())
}

#[tokio::test(start_paused = true)]
async fn a_flow_asks_first_and_becomes_a_task_later() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(server());
    let params = json!({"name": "order", "arguments": {}});
    let asked = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    assert_eq!(show(&asked), "ask {what: What?}");
    let answers = json!({"what": accept(json!({"what": "books"}))});
    let reply = client.retry("tools/call", &params, &asked, answers).await;
    let created = reply.into_result();
    assert_eq!(created["resultType"], "task", "{created}");
    assert!(created.get("requestState").is_none());
    assert!(created.get("inputRequests").is_none());
    let task = created["taskId"].as_str().unwrap();
    let shown = client.until(task, &["input_required"]).await;
    let message = &shown["inputRequests"]["size"]["params"]["message"];
    assert_eq!(message, "How many books?");
    client
        .update(task, json!({"size": accept(json!({"size": 3}))}))
        .await;
    assert_eq!(said(&client.ended(task).await), "3 books");
}

#[tokio::test(start_paused = true)]
async fn a_flow_whose_client_reads_no_tasks_goes_on_in_round_trips() {
    let fleet = Fleet::new();
    let plain = fleet
        .front(server())
        .with_capabilities(json!({"elicitation": {}}));
    let rounds = [
        json!({"what": accept(json!({"what": "books"}))}),
        json!({"size": accept(json!({"size": 3}))}),
    ];
    assert_eq!(
        plain.play("order", json!({}), &rounds).await,
        "ask {what: What?} -> ask {size: How many books?} -> 3 books"
    );
    // Before anything is asked, not after.
    let params = json!({"name": "at_once", "arguments": {}});
    let refused = plain.send("tools/call", params).await.error();
    assert!(refused.starts_with("400 -32021"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_flow_may_become_a_task_before_it_does_anything() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(server());
    let task = client.begin("at_once", json!({})).await;
    assert_eq!(said(&client.ended(&task).await), "done");
}
