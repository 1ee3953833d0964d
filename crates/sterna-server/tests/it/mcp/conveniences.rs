//! What an author need not write out: output schemas, headers, forms.

use expect_test::expect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sterna_protocol::elicitation::ElicitRequestFormParams;
use sterna_protocol::input::{InputRequest, InputRequired};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::{CallToolResult, ToolAnnotations};
use sterna_server::{Answers, Call, Cx, Json, Server, Tool, ToolError, form_schema};

use super::{Client, accept, headers, show};

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
    /// Left out when it does not blow
    #[serde(skip_serializing_if = "Option::is_none")]
    wind: Option<u8>,
    /// Written as it is, whatever it may be read from
    #[serde(default)]
    place: String,
}

async fn weather(_: Cx<'_>, (): ()) -> Result<Json<Weather>, ToolError> {
    Ok(Json(Weather {
        celsius: 21.5,
        wind: None,
        place: "here".to_owned(),
    }))
}

async fn anything(_: Cx<'_>, (): ()) -> Json<Value> {
    Json(json!([1]))
}

async fn seen(cx: Cx<'_>, (): ()) -> String {
    let mut names: Vec<_> = cx
        .request()
        .headers()
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    let one = |name| cx.header(name).unwrap_or("-");
    let secrets = [
        "authorization",
        "Cookie",
        "proxy-authorization",
        "mcp-session-id",
    ];
    format!(
        "{} {} {}",
        one("X-Trace"),
        secrets.map(one).concat(),
        names.join(" ")
    )
}

#[derive(Deserialize, JsonSchema)]
struct Approval {
    reason: String,
}

async fn approve(_: Call, answers: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
    if let Some(approval) = answers.form::<Approval>("approval") {
        let text = format!("approved: {}", approval?.reason);
        return Ok(Outcome::Complete(CallToolResult::text(text)));
    }
    let form = form_schema::<Approval>("approval")?;
    let question = InputRequest::elicit(ElicitRequestFormParams::new("Why?", form));
    Ok(Outcome::InputRequired(InputRequired::asking(
        "approval", question,
    )))
}

fn server() -> Server {
    let hints = ToolAnnotations::new().read_only().closed_world();
    let hidden = Tool::new("hidden", "", weather).output_schema(json!({"type": "object"}));
    Server::new("convenient", "1")
        .offer(Tool::new("weather", "", weather).annotations(hints))
        .tool("anything", "", anything)
        .offer(hidden)
        .tool("seen", "", seen)
        .offer(Tool::low_level("approve", "", approve))
}

#[tokio::test]
async fn structured_content_has_the_schema_of_its_type() {
    let client = Client::of(server());
    let listed = client.send("tools/list", json!({})).await.into_result();
    let tool = |at: usize| &listed["tools"][at];
    expect![[r#"{"type":"object","properties":{"celsius":{"type":"number","format":"double"},"wind":{"type":["integer","null"],"format":"uint8","minimum":0,"maximum":255,"description":"Left out when it does not blow"},"place":{"type":"string","description":"Written as it is, whatever it may be read from","default":""}},"required":["celsius","place"],"title":"Weather"}"#]].assert_eq(&tool(0)["outputSchema"].to_string());
    assert_eq!(tool(1).get("outputSchema"), None);
    assert_eq!(tool(2)["outputSchema"], json!({"type": "object"}));
    assert_eq!(
        tool(0)["annotations"],
        json!({"readOnlyHint": true, "openWorldHint": false})
    );
    let result = client.call_tool("weather", json!({})).await;
    assert_eq!(
        result["structuredContent"],
        json!({"celsius": 21.5, "place": "here"})
    );
    let result = client.call_tool("anything", json!({})).await;
    assert_eq!(result["structuredContent"], json!([1]));
}

#[tokio::test]
async fn a_handler_sees_the_headers_of_its_request_but_no_credentials() {
    let client = Client::of(server());
    let mut head = headers("2026-07-28", "tools/call");
    for (name, value) in [
        ("mcp-name", "seen"),
        ("x-trace", "7"),
        ("authorization", "Bearer secret"),
        ("proxy-authorization", "Basic secret"),
        ("cookie", "session=secret"),
        ("mcp-session-id", "secret"),
    ] {
        head.insert(name, value.parse().unwrap());
    }
    let meta = json!({super::VERSION: "2026-07-28", super::CAPABILITIES: {}});
    let params = json!({"name": "seen", "arguments": {}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let reply = super::Reply::read(client.post(head, body.to_string()).await).await;
    assert_eq!(
        show(&reply.into_result()),
        "7 ---- accept content-type host mcp-method mcp-name mcp-protocol-version x-trace",
    );
}

#[tokio::test]
async fn a_handler_within_a_session_sees_the_headers_of_its_post() {
    let session = crate::legacy::Session::of(server()).await;
    let params = json!({"name": "seen", "arguments": {}});
    let result = session.send("tools/call", params).await.into_result();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("- ---- "), "{text}");
    assert!(text.contains("content-type"), "{text}");
    assert!(!text.contains("mcp-session-id"), "{text}");
}

#[tokio::test]
async fn a_low_level_handler_asks_with_the_form_of_a_type() {
    let client = Client::of(server());
    let rounds = [json!({"approval": accept(json!({"reason": "tested"}))})];
    let shown = client.play("approve", json!({}), &rounds).await;
    assert_eq!(shown, "ask {approval: Why?} -> approved: tested");
}
