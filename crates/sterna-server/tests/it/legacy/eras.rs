//! The four cells: a server with and without sessions, a client with and
//! without them.

use serde_json::{Value, json};
use sterna_server::http::HttpConfig;

use super::asking::server;
use super::{Session, next, show};
use crate::mcp::{Client, Reply, accept, headers};

fn ada() -> Value {
    accept(json!({"name": "Ada"}))
}

#[tokio::test]
async fn a_server_of_both_eras_serves_an_old_client() {
    let session = Session::of(server()).await;
    let said = session
        .play("tools/call", json!({"name": "name"}), &[ada()])
        .await;
    assert_eq!(said, "elicitation/create: Who are you? -> Hello, Ada!");
}

#[tokio::test]
async fn a_server_of_both_eras_serves_a_modern_client() {
    let client = Client::of(server());
    let said = client
        .play("name", json!({}), &[json!({"name": ada()})])
        .await;
    assert_eq!(said, "ask {name: Who are you?} -> Hello, Ada!");
}

#[tokio::test]
async fn a_modern_server_serves_a_modern_client() {
    let client = Client::of(server().without_sessions());
    let said = client
        .play("name", json!({}), &[json!({"name": ada()})])
        .await;
    assert_eq!(said, "ask {name: Who are you?} -> Hello, Ada!");
}

#[tokio::test]
async fn a_modern_server_tells_an_old_client_what_it_speaks() {
    let mut http = HttpConfig::default();
    http.get_and_delete = false;
    for server in [server().without_sessions(), server().http(http)] {
        let none = Session::none(server);
        let reply = Reply::read(none.initialize("2025-11-25", json!({})).await).await;
        assert_eq!(
            reply.error(),
            "400 -32022 \"Unsupported protocol version `2025-11-25`; this server speaks 2026-07-28\" {\"requested\":\"2025-11-25\",\"supported\":[\"2026-07-28\"]}"
        );
    }
}

#[tokio::test]
async fn one_server_serves_both_at_the_same_time() {
    let session = Session::of(server()).await;
    let mut stream = session.start("tools/call", json!({"name": "name"})).await;
    let question = next(&mut stream).await;
    let initial = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "name",
        "_meta": {crate::mcp::VERSION: "2026-07-28", crate::mcp::CAPABILITIES: {"elicitation": {}}},
    }});
    let mut modern = session.clone();
    (modern.id, modern.version) = (None, None);
    // Without its headers it is refused as the modern request it is.
    let reply = Reply::read(modern.post(initial).await).await;
    assert!(reply.error().starts_with("400 -32020"), "{}", reply.error());
    session.answer(&question, ada()).await;
    assert_eq!(show(&next(&mut stream).await), "Hello, Ada!");
}

#[tokio::test]
async fn a_modern_request_to_initialize_is_unknown() {
    let client = Client::of(server());
    let reply = client.send("initialize", json!({})).await;
    assert_eq!(
        reply.error(),
        "404 -32601 \"Method not found: `initialize`; this server does not offer it\""
    );
}

#[tokio::test]
async fn a_modern_request_under_an_old_header_does_not_fit() {
    let client = Client::of(server());
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {
        "_meta": {crate::mcp::VERSION: "2026-07-28", crate::mcp::CAPABILITIES: {}},
    }});
    let response = client
        .post(headers("2025-11-25", "tools/list"), body.to_string())
        .await;
    let reply = Reply::read(response).await;
    assert!(reply.error().starts_with("400 -32020"), "{}", reply.error());
}

/// Every message that a modern client is sent, over every tool and every kind
/// of answer, is a notification or a response.
#[tokio::test]
async fn no_request_of_ours_reaches_a_modern_client() {
    let client = Client::of(server()).with_meta("progressToken", json!(1));
    let offers = [
        ("tools/call", json!({"name": "name"})),
        ("tools/call", json!({"name": "visit"})),
        ("tools/call", json!({"name": "model"})),
        ("tools/call", json!({"name": "places"})),
        ("tools/call", json!({"name": "thrice"})),
        ("tools/call", json!({"name": "both"})),
        ("tools/call", json!({"name": "race"})),
        ("tools/call", json!({"name": "low_level"})),
        ("prompts/get", json!({"name": "brief"})),
        ("resources/read", json!({"uri": "test://secret"})),
    ];
    for capabilities in [
        json!({}),
        json!({"elicitation": {}, "sampling": {}, "roots": {}}),
    ] {
        let client = client.with_capabilities(capabilities);
        for (method, params) in &offers {
            let mut reply = client.send(method, params.clone()).await;
            for _ in 0..3 {
                assert!(!reply.messages.is_empty());
                for message in &reply.messages {
                    let is_request = message.get("method").is_some() && message.get("id").is_some();
                    assert!(!is_request, "{message}");
                }
                let Some(before) = reply.messages.last().unwrap().get("result").cloned() else {
                    break;
                };
                let answers: serde_json::Map<_, _> = before["inputRequests"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(key, _)| (key.clone(), accept(json!({key: "x"}))))
                    .collect();
                reply = client
                    .retry(method, params, &before, Value::Object(answers))
                    .await;
            }
        }
    }
}
