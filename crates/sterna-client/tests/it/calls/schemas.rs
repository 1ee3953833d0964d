//! Schemas in dialects that are not known here.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use serde_json::json;
use sterna_client::{Builder, Client, Error};
use sterna_protocol::elicitation::{ElicitAction, ElicitResult};

use super::lines::in_session;
use super::rounds::{asks, text};
use super::scripted::{Scripted, done, name_form};

const STRANGE: &str = "https://schemas.example/2099";

fn shown(error: &Error) -> String {
    let cause = error.source().unwrap();
    format!("{:?} {error}: {cause}", error.kind())
}

#[tokio::test]
async fn a_tool_with_a_schema_in_an_unknown_dialect_is_not_called() {
    let server = Scripted::start(|seen, _| match seen.body["method"].as_str() {
        Some("tools/list") => {
            let tool = |name: &str, dialect: &str| {
                json!({"name": name, "inputSchema": {"type": "object"},
                    "outputSchema": {"$schema": dialect, "type": "object"}})
            };
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [
                tool("known", "http://json-schema.org/draft-07/schema#"),
                tool("strange", STRANGE)]})
        }
        _ => {
            let mut result = done("ok");
            result["structuredContent"] = json!({});
            result
        }
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    assert_eq!(client.tools().all().await.unwrap().len(), 2);
    assert_eq!(text(&client.call("known").await.unwrap()), "ok");
    let error = client.call("strange").await.unwrap_err();
    expect!["Peer the output schema of the tool `strange` cannot be used (MR0517): the dialect `https://schemas.example/2099` of JSON Schema is not supported"].assert_eq(&shown(&error));
    assert_eq!(server.seen("tools/call").len(), 1);
}

/// Declines every form and counts them.
fn counting(builder: Builder, asked: &Arc<AtomicUsize>) -> Builder {
    let asked = asked.clone();
    builder.on_form(move |_| {
        asked.fetch_add(1, Ordering::SeqCst);
        async { Ok(ElicitResult::new(ElicitAction::Decline)) }
    })
}

#[tokio::test]
async fn a_form_in_an_unknown_dialect_is_not_shown() {
    let mut form = name_form("Who?");
    form["params"]["requestedSchema"]["$schema"] = json!(STRANGE);
    let question = form.clone();
    let server = Scripted::start(move |_, _| asks(json!({"who": question}), json!(null))).await;
    let asked: Arc<AtomicUsize> = Arc::default();
    let client = counting(Client::builder(&server.url), &asked);
    let client = client.connect().await.unwrap();
    let error = client.call("t").await.unwrap_err();
    expect!["Peer the form `who` cannot be used (MR0517): the dialect `https://schemas.example/2099` of JSON Schema is not supported"].assert_eq(&shown(&error));
    let error = client.call("t").start().await.unwrap_err();
    assert_eq!(error.code(), "MR0517");

    let (_client, mut far) = in_session(json!({}), |builder| counting(builder, &asked)).await;
    form["jsonrpc"] = json!("2.0");
    form["id"] = json!("q");
    far.say(form).await;
    assert_eq!(far.read().await["error"]["code"], -32603);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}
