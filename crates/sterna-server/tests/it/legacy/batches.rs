use serde_json::{Value, json};

use super::asking::server;
use super::{Session, asked, next, show};
use crate::mcp::accept;

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

async fn session() -> Session {
    Session::none(server())
        .open("2025-03-26", json!({"sampling": {}, "roots": {}}))
        .await
}

#[tokio::test]
async fn a_batch_of_2025_03_26_is_answered_with_one() {
    let session = session().await;
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let batch = json!([
        request(1, "ping", json!({})),
        initialized,
        request(2, "nonsense", json!({})),
        request(3, "tools/call", json!({"name": "none"})),
        {"jsonrpc": "2.0", "id": "0000000000000000.7", "result": {}},
        17,
    ]);
    let mut response = session.post(batch).await;
    let answers = next(&mut response).await;
    let mut shown: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| format!("{} {}", answer["id"], answer["error"]["code"]))
        .collect();
    shown.sort();
    assert_eq!(shown, ["1 null", "2 -32601", "3 -32602"]);
}

#[tokio::test]
async fn a_batch_without_a_request_is_accepted() {
    let session = session().await;
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = session.post(json!([initialized, initialized])).await;
    assert_eq!(response.status(), 202);
}

#[tokio::test]
async fn the_calls_of_a_batch_ask_on_one_stream() {
    let session = session().await;
    let call = |id: u32| request(id, "tools/call", json!({"name": "places"}));
    let mut stream = session.post(json!([call(1), call(2)])).await;
    let (one, two) = (next(&mut stream).await, next(&mut stream).await);
    assert_eq!(
        (asked(&one), asked(&two)),
        ("roots/list".into(), "roots/list".into())
    );
    let roots = json!({"roots": [{"uri": "file:///a"}]});
    let answers = json!([
        {"jsonrpc": "2.0", "id": two["id"], "result": roots},
        {"jsonrpc": "2.0", "id": one["id"], "result": {"roots": []}},
    ]);
    assert_eq!(session.post(answers).await.status(), 202);
    let reply = crate::mcp::Reply::read(stream).await;
    let mut said: Vec<_> = reply.messages.iter().map(show).collect();
    said.sort();
    assert_eq!(said, ["0 roots", "1 roots"]);
}

#[tokio::test]
async fn an_empty_batch_and_a_huge_one_are_refused() {
    let session = session().await;
    let ping = request(1, "ping", json!({}));
    for batch in [json!([]), json!(vec![ping; 33])] {
        assert_eq!(session.post(batch).await.status(), 400);
    }
}

#[tokio::test]
async fn later_revisions_have_no_batches() {
    let none = Session::none(server());
    for version in ["2025-06-18", "2025-11-25"] {
        let session = none.open(version, json!({"elicitation": {}})).await;
        let batch = json!([request(1, "ping", json!({}))]);
        assert_eq!(session.post(batch).await.status(), 400);
    }
    let said = none
        .open("2025-06-18", json!({"elicitation": {}}))
        .await
        .play(
            "tools/call",
            json!({"name": "name"}),
            &[accept(json!({"name": "Ada"}))],
        )
        .await;
    assert_eq!(said, "elicitation/create: Who are you? -> Hello, Ada!");
}
