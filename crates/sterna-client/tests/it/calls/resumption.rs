//! Streams that end before the answer.

use std::sync::Mutex;

use serde_json::{Value, json};
use sterna_client::{Client, Era, ErrorKind};

use super::rounds::text;
use super::scripted::{Said, Scripted, Seen, discovered};
use crate::world::Reply;

#[tokio::test]
async fn a_session_takes_a_broken_stream_up_where_it_stopped() {
    let call = Mutex::new(Value::Null);
    let server = legacy(move |seen| match seen.header("last-event-id") {
        None if seen.body["method"] == "tools/call" => {
            *call.lock().unwrap() = seen.body["id"].clone();
            stream("id: here\nretry: 50\ndata: \n\n")
        }
        None => Said::Reply(Reply::status(405)),
        Some("here") => stream("id: further\ndata: \n\n"),
        Some("further") => {
            let content = json!({"content": [{"type": "text", "text": "at last"}]});
            let id = &*call.lock().unwrap();
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": content});
            stream(&format!("data: {answer}\n\n"))
        }
        Some(other) => panic!("an unknown event id: {other}"),
    })
    .await;
    let client = Client::builder(&server.url).era(Era::Legacy);
    let client = client.connect().await.unwrap();
    assert_eq!(text(&client.call("t").await.unwrap()), "at last");
    assert_eq!(
        server.seen("tools/call").len(),
        1,
        "the call is not repeated"
    );
}

#[tokio::test]
async fn a_stream_without_a_place_to_resume_at_is_over() {
    let server = legacy(|seen| match seen.body["method"].as_str() {
        Some("tools/call") => stream(": nothing to hold on to\n\n"),
        _ => Said::Reply(Reply::status(405)),
    })
    .await;
    let client = Client::builder(&server.url).era(Era::Legacy);
    let client = client.connect().await.unwrap();
    let error = client.call("t").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
}

#[tokio::test]
async fn a_modern_stream_is_never_resumed_nor_its_call_repeated() {
    let server = Scripted::raw(|seen, _| match seen.body["method"].as_str() {
        Some("server/discover") => Said::Result(discovered()),
        Some("tools/call") => stream("id: here\nretry: 50\ndata: \n\n"),
        _ => panic!("a modern client sent {seen:?}"),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let error = client.call("t").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert_eq!(server.seen("tools/call").len(), 1);
}

fn stream(events: &str) -> Said {
    let reply = Reply::status(200).with("content-type", "text/event-stream");
    Said::Reply(reply.body(events.to_owned()))
}

/// A server of an earlier revision that answers the handshake by itself.
async fn legacy(answer: impl Fn(&Seen) -> Said + Send + Sync + 'static) -> Scripted {
    Scripted::raw(move |seen, _| match seen.body["method"].as_str() {
        Some("initialize") => Said::Result(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        })),
        Some("notifications/initialized") => Said::Reply(Reply::status(202)),
        _ => answer(seen),
    })
    .await
}
