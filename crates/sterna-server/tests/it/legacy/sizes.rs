//! What a session may have remembered, and what all of them may.

use serde_json::{Value, json};
use sterna_server::http::HttpConfig;
use sterna_server::{Cx, Server, Uri};

use super::{Session, next};

async fn read(_: Cx<'_>, uri: Uri) -> String {
    uri.to_string()
}

async fn touch(cx: Cx<'_>, (): ()) {
    cx.request().changes().resource("test://a");
}

fn server() -> Server {
    Server::new("sizes", "1")
        .tool("touch", "Changes a resource", touch)
        .resource("test://a", "a", read)
}

/// The code of the error that a request got, or null.
async fn code(session: &Session, method: &str, params: Value) -> Value {
    let reply = session.send(method, params).await;
    reply.messages[0]["error"]["code"].clone()
}

#[tokio::test]
async fn a_level_that_does_not_exist_is_refused() {
    let session = Session::of(server()).await;
    for (level, expected) in [
        (json!("warning"), Value::Null),
        (json!("loud"), json!(-32602)),
        (json!("x".repeat(3 << 20)), json!(-32602)),
    ] {
        let got = code(&session, "logging/setLevel", json!({"level": level})).await;
        assert_eq!(got, expected);
    }
}

#[tokio::test]
async fn the_address_of_a_subscription_is_at_most_so_long() {
    let session = Session::of(server()).await;
    for (length, expected) in [(4096, Value::Null), (4097, json!(-32602))] {
        let uri = format!("test://{}", "x".repeat(length - 7));
        let got = code(&session, "resources/subscribe", json!({"uri": uri})).await;
        assert_eq!(got, expected, "{length}");
    }
}

/// Subscribes to `count` resources of four kilobytes each; how many were taken.
async fn subscribe(session: &Session, count: usize) -> usize {
    let mut taken = 0;
    for number in 0..count {
        let uri = format!("test://{number:04000}");
        let refused = code(session, "resources/subscribe", json!({"uri": uri})).await;
        taken += usize::from(refused.is_null());
    }
    taken
}

#[tokio::test]
async fn sessions_that_nobody_uses_make_room_for_others_and_listening_ones_do_not() {
    let mut http = HttpConfig::default();
    http.limits.buffered_bytes = 1 << 20;
    let none = Session::none(server().http(http));
    let listening = none.open("2025-11-25", json!({})).await;
    assert_eq!(
        code(
            &listening,
            "resources/subscribe",
            json!({"uri": "test://a"})
        )
        .await,
        Value::Null
    );
    let mut stream = listening.listen().await;
    // A quarter of the mebibyte, more or less.
    let first = none.open("2025-11-25", json!({})).await;
    assert_eq!(subscribe(&first, 50).await, 50);
    let second = none.open("2025-11-25", json!({})).await;
    assert_eq!(subscribe(&second, 50).await, 50);
    let _stream = second.listen().await;
    let third = none.open("2025-11-25", json!({})).await;
    let taken = subscribe(&third, 50).await;
    assert!(taken < 20, "{taken}");
    listening.send("tools/call", json!({"name": "touch"})).await;
    let heard = next(&mut stream).await;
    assert_eq!(heard["params"]["uri"], "test://a");
}

#[tokio::test]
async fn the_stream_of_a_session_is_forgotten_when_it_ends() {
    let service = crate::mcp::mounted(server()).build().unwrap();
    let changes = service.changes().clone();
    let session = Session::at(service).open("2025-11-25", json!({})).await;
    let stream = session.listen().await;
    assert_eq!(format!("{changes:?}"), "Changes(1 subscribers)");
    drop(stream);
    assert_eq!(format!("{changes:?}"), "Changes(0 subscribers)");
}
