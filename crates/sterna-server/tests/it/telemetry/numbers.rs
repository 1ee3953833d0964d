use std::time::Duration;

use serde_json::json;
use sterna_seal::Lifetimes;
use sterna_server::http::{Probes, Registry};
use sterna_server::{AskError, Cx, Server, Tool};

use crate::mcp::{Client, accept};

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "Name?").await?;
    Ok(format!("Hello, {name}!"))
}

fn watched() -> (Registry, Client) {
    let registry = Registry::new();
    let mut soon = Lifetimes::default();
    soon.round = Duration::ZERO;
    let server = Server::new("counted", "1")
        .probes(Probes::new().counting_in(registry.clone()))
        .tool("greet", "Greets", greet)
        .offer(Tool::new("hasty", "Greets at once", greet).lifetimes(soon));
    (registry, Client::of(server))
}

#[track_caller]
fn check(registry: &Registry, lines: &[&str]) {
    let text = registry.render();
    for line in lines {
        assert!(text.lines().any(|found| found == *line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn flows_are_counted_from_their_first_question_to_their_end() {
    let (registry, client) = watched();
    let params = json!({"name": "greet", "arguments": {}});
    let answers = json!({"name": accept(json!({"name": "Ada"}))});
    let mut asked = json!(null);
    for _ in 0..3 {
        asked = client
            .send("tools/call", params.clone())
            .await
            .into_result();
    }
    client.retry("tools/call", &params, &asked, answers).await;
    let broken = json!({"requestState": "s1.AAAA"});
    client
        .retry("tools/call", &params, &broken, json!({}))
        .await;
    client.send("tools/list", json!({})).await;
    check(
        &registry,
        &[
            "sterna_flows_started_total 3",
            "sterna_flows_answered_total 1",
            "sterna_flows_finished_total 1",
            "sterna_flows_expired_total 0",
            "sterna_rounds_suspended_total 3",
            r#"sterna_states_refused_total{reason="malformed"} 1"#,
            r#"mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",gen_ai_tool_name="greet"} 4"#,
            r#"mcp_server_operation_duration_seconds_count{error_type="-32602",mcp_method_name="tools/call"} 1"#,
            r#"mcp_server_operation_duration_seconds_count{mcp_method_name="tools/list"} 1"#,
        ],
    );
}

#[tokio::test]
async fn a_state_that_comes_back_too_late_is_a_flow_abandoned() {
    let (registry, client) = watched();
    let params = json!({"name": "hasty", "arguments": {}});
    let asked = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    let late = client.retry("tools/call", &params, &asked, json!({})).await;
    assert_eq!(late.status, 400);
    check(&registry, &["sterna_flows_expired_total 1"]);
}
