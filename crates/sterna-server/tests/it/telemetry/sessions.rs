use expect_test::expect;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sterna_server::http::{Probes, Registry};
use sterna_server::{AskError, Cx, Extension, Request, RequestError, Server, ToolError};

use super::capture::{Capture, Fields};
use crate::legacy::{Session, next};
use crate::mcp::{Client, accept};

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "Name?").await?;
    Ok(format!("Hello, {name}!"))
}

async fn fails(_: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Err(ToolError::new("no"))
}

async fn weather(_: Request, _: Value) -> Result<Value, RequestError> {
    Ok(json!({"sky": "clear"}))
}

fn server() -> Server {
    Server::new("watched", "1")
        .tool("greet", "Greets", greet)
        .tool("fails", "Fails", fails)
}

/// What differs from one request to the other.
fn show(span: &Fields) -> String {
    let names = [
        "otel.name",
        "mcp.protocol.version",
        "sterna.round",
        "sterna.outcome",
        "error.type",
    ];
    let told = names.into_iter().filter_map(|name| span.get(name));
    told.collect::<Vec<_>>().join(" ") + "\n"
}

#[tokio::test]
async fn every_request_of_a_session_is_a_span_with_a_duration() {
    let (capture, _guard) = Capture::start();
    let session = Session::of(server()).await;
    let answers = [accept(json!({"name": "Ada"}))];
    let greet = json!({"name": "greet"});
    session.play("tools/call", greet.clone(), &answers).await;
    session.send("tools/call", json!({"name": "fails"})).await;
    session.send("tools/call", json!({"name": "none"})).await;
    session.send("tools/list", json!({})).await;
    session.send("ping", json!({})).await;
    // Taken back while its question is open.
    let mut stream = session.start("tools/call", greet).await;
    next(&mut stream).await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    session.post(cancelled).await;
    while stream.body_mut().frame().await.is_some() {}
    let shown: String = capture.operations().iter().map(show).collect();
    expect![[r#"
        initialize 2025-11-25
        tools/call greet 2025-11-25 0 finished
        tools/call fails 2025-11-25 0 failed tool_error
        tools/call 2025-11-25 -32602
        tools/list 2025-11-25
        ping 2025-11-25
        tools/call greet 2025-11-25 0 cancelled cancelled
    "#]]
    .assert_eq(&shown);
    let durations = capture.events();
    let durations = durations.iter().filter(|event| {
        event
            .get("histogram.mcp.server.operation.duration")
            .is_some()
    });
    assert_eq!(durations.count(), 7);
}

#[tokio::test]
async fn requests_of_sessions_and_of_extensions_are_counted() {
    let registry = Registry::new();
    let counted = || server().probes(Probes::new().counting_in(registry.clone()));
    let session = Session::of(counted()).await;
    session.send("ping", json!({})).await;
    session.send("tools/call", json!({"name": "fails"})).await;
    let extension = Extension::new("com.example/weather").method("weather/now", weather);
    let client = Client::of(counted().extension(extension));
    client.send("weather/now", json!({})).await;
    let text = registry.render();
    for line in [
        r#"mcp_server_operation_duration_seconds_count{mcp_method_name="initialize"} 1"#,
        r#"mcp_server_operation_duration_seconds_count{mcp_method_name="ping"} 1"#,
        r#"mcp_server_operation_duration_seconds_count{error_type="tool_error",mcp_method_name="tools/call"} 1"#,
        r#"mcp_server_operation_duration_seconds_count{mcp_method_name="weather/now"} 1"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
