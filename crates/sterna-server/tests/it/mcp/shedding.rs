use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::http::{HttpConfig, Rate};
use sterna_server::{AskError, Cx, Server, ServerConfig, ToolError};

use super::{Client, accept, show};

async fn work(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let mut sum = 0;
    for part in 1..=4 {
        let scope = cx.scope(part);
        sum += scope.step("part", || async { 1 }).await;
        scope.checkpoint("rest").await;
    }
    Ok(format!("sum {sum}"))
}

async fn idle(cx: Cx<'_>, (): ()) -> &'static str {
    cx.checkpoint("rest").await;
    "done"
}

fn overloaded() -> Server {
    let mut config = ServerConfig::default();
    config.overloaded = Some(Arc::new(|| true));
    Server::new("shedding", "1")
        .config(config)
        .tool("work", "Works in parts", work)
        .tool("idle", "Does nothing", idle)
}

#[tokio::test]
async fn an_overloaded_instance_sends_a_flow_away_at_most_twice_in_a_row() {
    let client = Client::of(overloaded());
    let rounds = [json!({}), json!({})];
    let shown = client.play("work", json!({}), &rounds).await;
    assert_eq!(shown, "ask {} -> ask {} -> sum 4");
}

#[tokio::test]
async fn a_flow_that_has_got_nowhere_is_not_sent_away() {
    let client = Client::of(overloaded());
    assert_eq!(show(&client.call_tool("idle", json!({})).await), "done");
}

#[tokio::test]
async fn a_server_that_leaves_sends_its_flows_away() {
    let client = Client::of(Server::new("shedding", "1").tool("work", "Works in parts", work));
    client.http.shutdown().begin();
    let result = client.call_tool("work", json!({})).await;
    assert_eq!(show(&result), "ask {}");
    let other = Client::of(Server::new("shedding", "1").tool("work", "Works in parts", work));
    let params = json!({"name": "work", "arguments": {}});
    let reply = other.retry("tools/call", &params, &result, json!({})).await;
    assert_eq!(show(&reply.into_result()), "sum 4");
}

async fn pesters(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    for row in 0..3 {
        let _: String = cx.scope(row).ask("name", "Name?").await?;
    }
    Ok("enough".to_owned())
}

#[tokio::test]
async fn a_client_that_keeps_the_server_asking_is_throttled() {
    let mut http = HttpConfig::default();
    http.rates.questions = Some(Rate::new(2, Duration::from_secs(60)));
    let gate = Gate::guarded(StaticTokens::parse("token-of-ada ada").unwrap());
    let server = Server::new("shedding", "1").http(http).gate(gate);
    let client =
        Client::of(server.tool("pesters", "Asks a lot", pesters)).with_token("token-of-ada");
    let params = json!({"name": "pesters", "arguments": {}});
    let mut result = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    let answers = |row: usize| json!({format!("{row}/name"): accept(json!({"name": "x"}))});
    result = client
        .retry("tools/call", &params, &result, answers(0))
        .await
        .into_result();
    let reply = client
        .retry("tools/call", &params, &result, answers(1))
        .await;
    assert_eq!(reply.status, 429);
    assert!(reply.headers.contains_key("retry-after"));
}
