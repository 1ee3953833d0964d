use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sterna_flow::Level;
use sterna_server::{AskError, Cx, Server, ToolError};

use super::capture::{Capture, Fields};
use crate::mcp::{Client, accept};

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    cx.log(Level::Info, "asking");
    let name: String = cx.ask("name", "Name?").await?;
    Ok(format!("{} {name}", cx.request().trace().id()))
}

async fn fails(_: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Err(ToolError::new("no"))
}

async fn carries(cx: Cx<'_>, (): ()) -> String {
    let trace = cx.request().trace();
    format!(
        "{:?} {:?} {:?}",
        trace.traceparent(),
        trace.tracestate(),
        trace.baggage()
    )
}

fn client() -> Client {
    let server = Server::new("watched", "1")
        .tool("greet", "Greets", greet)
        .tool("fails", "Fails", fails)
        .tool("carries", "Shows its trace", carries);
    Client::of(server)
}

fn show(span: &Fields) -> String {
    let told = span.values.iter().filter(|(name, _)| {
        let name = name.as_str();
        !matches!(
            name,
            "sterna.flow.id" | "sterna.state.bytes" | "sterna.trace.id"
        )
    });
    told.map(|(name, value)| format!("{name}={value}\n"))
        .collect()
}

fn check(capture: &Capture, at: usize, expected: Expect) {
    expected.assert_eq(&show(&capture.operations()[at]));
}

#[tokio::test]
async fn a_call_is_a_span_with_the_names_of_the_conventions() {
    let client = client();
    let (capture, _guard) = Capture::start();
    client.call_tool("greet", json!({})).await;
    client.call_tool("fails", json!({})).await;
    client.send("tools/list", json!({})).await;
    let nothing = json!({"name": "nothing", "arguments": {}});
    client.send("tools/call", nothing).await;
    check(
        &capture,
        0,
        expect![[r#"
        gen_ai.operation.name=execute_tool
        gen_ai.tool.name=greet
        jsonrpc.request.id=1
        mcp.method.name=tools/call
        mcp.protocol.version=2026-07-28
        network.transport=tcp
        otel.kind=server
        otel.name=tools/call greet
        sterna.outcome=asked
        sterna.round=0
    "#]],
    );
    check(
        &capture,
        1,
        expect![[r#"
        error.type=tool_error
        gen_ai.operation.name=execute_tool
        gen_ai.tool.name=fails
        jsonrpc.request.id=1
        mcp.method.name=tools/call
        mcp.protocol.version=2026-07-28
        network.transport=tcp
        otel.kind=server
        otel.name=tools/call fails
        otel.status_code=ERROR
        sterna.outcome=failed
        sterna.round=0
    "#]],
    );
    check(
        &capture,
        2,
        expect![[r#"
        jsonrpc.request.id=1
        mcp.method.name=tools/list
        mcp.protocol.version=2026-07-28
        network.transport=tcp
        otel.kind=server
        otel.name=tools/list
    "#]],
    );
    check(
        &capture,
        3,
        expect![[r#"
        error.type=-32602
        jsonrpc.request.id=1
        mcp.method.name=tools/call
        mcp.protocol.version=2026-07-28
        network.transport=tcp
        otel.kind=server
        otel.name=tools/call
        otel.status_code=ERROR
        rpc.response.status_code=-32602
    "#]],
    );
    let durations = capture.events();
    let durations = durations.iter().filter(|event| {
        event
            .get("histogram.mcp.server.operation.duration")
            .is_some()
    });
    assert_eq!(durations.count(), 4);
}

#[tokio::test]
async fn all_rounds_of_a_flow_are_one_trace_on_whichever_instance() {
    let (one, other) = (client(), client());
    let params = json!({"name": "greet", "arguments": {}});
    let answers = json!({"name": accept(json!({"name": "Ada"}))});
    for (parent, expected) in [
        (None, None),
        (
            Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            Some("0af7651916cd43dd8448eb211c80319c"),
        ),
        (Some("00-not-a-trace"), None),
    ] {
        let (capture, _guard) = Capture::start();
        let first = match parent {
            Some(parent) => one.with_meta("traceparent", json!(parent)),
            None => one.clone(),
        };
        let asked = first.send("tools/call", params.clone()).await.into_result();
        // The second round names another trace; the flow stays in its own.
        let strange = "00-11111111111111111111111111111111-2222222222222222-00";
        let second = other.with_meta("traceparent", json!(strange));
        let done = second.retry("tools/call", &params, &asked, answers.clone());
        let done = done.await.into_result();
        let spans = capture.operations();
        let of = |name| spans.iter().map(move |span| span.get(name).unwrap());
        let traces: Vec<_> = of("sterna.trace.id").collect();
        let flows: Vec<_> = of("sterna.flow.id").collect();
        assert_eq!((traces[0], flows[0]), (traces[1], flows[1]));
        assert_eq!(traces[0], expected.unwrap_or(flows[0]));
        assert_eq!(spans[1].get("sterna.round"), Some("1"));
        assert_eq!(spans[1].get("sterna.outcome"), Some("finished"));
        // The id itself is nobody's business: what handlers draw at random derives from it.
        let size: usize = spans[0].get("sterna.state.bytes").unwrap().parse().unwrap();
        assert_eq!(size, asked["requestState"].as_str().unwrap().len());
        let said = done["content"][0]["text"].as_str().unwrap();
        assert_eq!(said, format!("{} Ada", traces[0]));
    }
}

#[tokio::test]
async fn the_trace_context_of_a_request_reaches_its_handler() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let client = client()
        .with_meta("traceparent", json!(parent))
        .with_meta("tracestate", json!("rojo=1"))
        .with_meta("baggage", json!("user=ada"));
    let result: Value = client.call_tool("carries", json!({})).await;
    let expected = format!(r#"Some("{parent}") Some("rojo=1") Some("user=ada")"#);
    assert_eq!(result["content"][0]["text"], expected);
}
