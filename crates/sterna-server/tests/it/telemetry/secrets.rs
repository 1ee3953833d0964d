use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sterna_flow::Level;
use sterna_protocol::input::{InputRequired, RequestState};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{Answers, Call, Cx, RequestError, Server, Tool, ToolError};

use super::capture::Capture;
use crate::mcp::{Client, accept};

#[derive(Deserialize, JsonSchema)]
struct Args {
    text: String,
}

async fn tool(cx: Cx<'_>, args: Args) -> Result<String, ToolError> {
    cx.step("step", || async { "planted-step".to_owned() })
        .await;
    cx.log(Level::Info, &args.text);
    let answer: String = cx.ask("key", "planted-question").await?;
    match answer.as_str() {
        "planted-answer-fail" => Err(ToolError::new("planted-failure")),
        _ => Ok(format!("planted-result {answer}")),
    }
}

async fn low(call: Call, _: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
    Ok(match call.state() {
        None => Outcome::InputRequired(InputRequired::retry_with(RequestState::new("planted-own"))),
        Some(_) => Outcome::Complete(CallToolResult::text("planted-done")),
    })
}

async fn note(cx: Cx<'_>, args: Args) -> Result<String, RequestError> {
    let pin: String = cx.ask("pin", "PIN?").await?;
    Ok(format!("{} {pin}", args.text))
}

async fn model(cx: Cx<'_>, args: Args) -> Result<String, ToolError> {
    let prompt = format!("planted-prompt {}", args.text);
    let written = cx.sample("key", prompt).await?;
    Ok(format!("{:?}", written.content))
}

fn client() -> Client {
    let tokens = StaticTokens::parse("planted-token-0123456789abcdef ada").unwrap();
    let server = Server::new("secretive", "1")
        .gate(Gate::guarded(tokens))
        .tool("tool", "Does", tool)
        .tool("model", "Asks a model", model)
        .offer(Tool::low_level("low", "Does", low))
        .resource_template("note://{text}", "note", note);
    Client::of(server)
        .with_token("planted-token-0123456789abcdef")
        .with_meta("baggage", json!("user=planted-baggage"))
        .with_meta("tracestate", json!("planted=state"))
}

/// Plays every way through the server at which something of a user passes, at
/// the most talkative level, and looks for it in what was said.
#[tokio::test]
async fn no_argument_answer_state_or_token_is_ever_logged() {
    let client = client();
    let (capture, _guard) = Capture::start();
    let mut states = Vec::new();
    for (method, params, answer) in [
        (
            "tools/call",
            json!({"name": "tool", "arguments": {"text": "planted-argument"}}),
            "planted-answer",
        ),
        (
            "tools/call",
            json!({"name": "tool", "arguments": {"text": "planted-argument"}}),
            "planted-answer-fail",
        ),
        (
            "tools/call",
            json!({"name": "low", "arguments": {"text": "planted-argument"}}),
            "planted-answer",
        ),
        (
            "resources/read",
            json!({"uri": "note://planted-variable"}),
            "planted-answer",
        ),
    ] {
        let asked = client.send(method, params.clone()).await.into_result();
        states.push(asked["requestState"].as_str().unwrap().to_owned());
        let answers = json!({
            "key": accept(json!({"key": answer})),
            "pin": accept(json!({"pin": answer})),
        });
        client.retry(method, &params, &asked, answers.clone()).await;
        // Wrong in every way we know: another argument, a broken state, a wrong answer.
        let mut other = params.clone();
        other["arguments"] = json!({"text": "planted-other"});
        client.retry(method, &other, &asked, answers).await;
        let broken = json!({"requestState": "s1.planted-state"});
        client.retry(method, &params, &broken, json!({})).await;
        let wrong = json!({"key": accept(json!({"key": 7})), "pin": json!("planted-wrong")});
        client.retry(method, &params, &asked, wrong).await;
    }
    let params = json!({"name": "model", "arguments": {"text": "planted-argument"}});
    let asked = client.send("tools/call", params.clone()).await;
    let written = json!({"type": "text", "text": "planted-completion"});
    let written = json!({"role": "assistant", "model": "planted-model", "content": written});
    for answer in [written, json!({"planted-nonsense": 7})] {
        let answers = json!({"key": answer});
        let asked = &asked.messages[0]["result"];
        client.retry("tools/call", &params, asked, answers).await;
    }
    let planted = json!({"name": "planted-name", "arguments": {"text": 7}});
    client.send("tools/call", planted).await;
    let mistyped = json!({"name": "tool", "arguments": {"planted-member": "planted-argument"}});
    client.send("tools/call", mistyped).await;
    client
        .send("resources/read", json!({"uri": "planted://"}))
        .await;
    client.send("planted/method", json!({})).await;
    client
        .with_token("planted-wrong-token")
        .send("tools/list", json!({}))
        .await;

    let said = capture.text();
    assert!(said.contains("tools/call tool") && said.contains("note://{text}"));
    assert!(!said.contains("planted"), "{said}");
    for state in states {
        assert!(!said.contains(&state[3..]), "{said}");
    }
}
