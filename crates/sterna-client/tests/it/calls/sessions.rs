//! Servers with sessions, over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use expect_test::expect;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use sterna_client::{Client, Era};
use tokio::sync::Notify;

use super::rounds::{ada, text};
use super::scripted::{Said, Scripted, Seen};
use crate::world::Reply;

/// A legacy server: the handshake is answered, with a session id for each.
async fn server(answer: impl Fn(&Seen, usize) -> Said + Send + Sync + 'static) -> Scripted {
    let sessions = AtomicUsize::new(0);
    Scripted::raw(move |seen, count| match seen.body["method"].as_str() {
        Some("server/discover") => Said::Reply(Reply::status(400)),
        Some("initialize") => {
            let session = sessions.fetch_add(1, Ordering::SeqCst) + 1;
            let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"},
            }});
            Said::Reply(Reply::json(200, &body).with("mcp-session-id", session.to_string()))
        }
        Some("notifications/initialized") => Said::Reply(Reply::status(202)),
        // A GET or a DELETE has no body.
        None if seen.body == Value::Null => Said::Reply(Reply::status(405)),
        _ => answer(seen, count),
    })
    .await
}

fn said(text: &str) -> Said {
    Said::Result(json!({"content": [{"type": "text", "text": text}]}))
}

#[tokio::test]
async fn requests_carry_the_session_and_its_version_and_nothing_modern() {
    let server = server(|_, _| said("ok")).await;
    let client = Client::connect(&server.url).await.unwrap();
    assert_eq!(client.era(), Era::Legacy);
    assert_eq!(client.server().supported_versions[0].as_str(), "2025-06-18");
    let result = client.call("t").arg("a", 1).await.unwrap();
    assert_eq!(text(&result), "ok");
    let seen = server.seen("tools/call").pop().unwrap();
    assert_eq!(seen.header("mcp-session-id"), Some("1"));
    assert_eq!(seen.header("mcp-protocol-version"), Some("2025-06-18"));
    assert_eq!(seen.header("mcp-method"), None);
    expect![[r#"{"name":"t","arguments":{"a":1}}"#]].assert_eq(&seen.params().to_string());
    client.close().await;
}

#[tokio::test]
async fn handlers_answer_real_requests_of_the_server_in_the_middle_of_a_call() {
    let answered = Arc::new(Notify::new());
    let notify = answered.clone();
    let server = server(move |seen, _| match seen.body["method"].as_str() {
        Some("tools/call") => {
            let question = json!({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",
                "params": {"message": "Who?", "requestedSchema": {
                    "type": "object", "properties": {"name": {"type": "string"}}}}});
            let answer = json!({"jsonrpc": "2.0", "id": seen.body["id"],
                "result": {"content": [{"type": "text", "text": "hello"}]}});
            let event = |data: Value| Bytes::from(format!("data: {data}\n\n"));
            let answered = answered.clone();
            let later = stream::once(async move {
                // Nothing comes before the question is answered.
                answered.notified().await;
                Ok(event(answer))
            });
            let first = stream::iter([Ok::<_, std::io::Error>(event(question))]);
            let body = Body::from_stream(first.chain(later));
            let reply = Reply::status(200).with("content-type", "text/event-stream");
            Said::Reply(reply.body(body))
        }
        _ => {
            notify.notify_one();
            Said::Reply(Reply::status(202))
        }
    })
    .await;
    let client = ada(&server.url).connect().await.unwrap();
    let result = client.call("t").await.unwrap();
    assert_eq!(text(&result), "hello");
    let answer = server.answers().pop().unwrap();
    expect![[
        r#"{"jsonrpc":"2.0","id":"q1","result":{"action":"accept","content":{"name":"Ada"}}}"#
    ]]
    .assert_eq(&answer.body.to_string());
    assert_eq!(answer.header("mcp-session-id"), Some("1"));
}

#[tokio::test]
async fn a_forgotten_session_is_opened_anew() {
    let server = server(|seen, _| match seen.header("mcp-session-id") {
        Some("1") => Said::Reply(Reply::status(404)),
        _ => said("ok"),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let result = client.call("t").await.unwrap();
    assert_eq!(text(&result), "ok");
    assert_eq!(server.seen("initialize").len(), 2);
    let ids: Vec<_> = server.seen("tools/call");
    assert_ne!(ids[0].body["id"], ids[1].body["id"]);
}

#[tokio::test]
async fn a_visit_that_a_server_requires_is_a_question_like_any_other() {
    let server = server(|_, count| match count {
        1 => Said::Error(json!({"code": -32042, "message": "visit first", "data": {
            "elicitations": [{"mode": "url", "elicitationId": "e1", "message": "Sign in",
                "url": "https://a.example/sign-in"}]}})),
        _ => said("ok"),
    })
    .await;
    let client = Client::builder(&server.url)
        .on_url(|question| async move {
            assert_eq!(question.params.url.as_str(), "https://a.example/sign-in");
            Ok(sterna_protocol::elicitation::ElicitResult::new(
                sterna_protocol::elicitation::ElicitAction::Accept,
            ))
        })
        .connect()
        .await
        .unwrap();
    assert_eq!(text(&client.call("t").await.unwrap()), "ok");
    assert_eq!(server.seen("tools/call").len(), 2);
}
