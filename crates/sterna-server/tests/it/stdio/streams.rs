use std::time::Duration;

use serde_json::json;
use sterna_server::http::HttpConfig;
use sterna_server::{Cx, Server};
use tokio::sync::Notify;

use super::Client;
use crate::mcp::show;

async fn quick(_: Cx<'_>, (): ()) -> &'static str {
    "done"
}

async fn waits(cx: Cx<'_>, (): ()) -> &'static str {
    cx.state::<std::sync::Arc<Notify>>().notified().await;
    "waited"
}

fn server() -> Server {
    let mut http = HttpConfig::default();
    http.limits.body_bytes = 1000;
    http.limits.calls = 2;
    http.timeouts.drain = Duration::from_secs(5);
    Server::new("streams", "1")
        .tool("quick", "Is done", quick)
        .tool("waits", "Waits", waits)
        .http(http)
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_one_served() {
    let mut client = Client::of(server().state(std::sync::Arc::new(Notify::new())));
    for _ in 0..100 {
        client.write(&[b'x'; 1000]).await;
    }
    client.write(b"\n").await;
    let refused = client.hear().await;
    assert_eq!(refused["error"]["code"], -32600);
    assert_eq!(refused.get("id"), None);
    client
        .request(1, "tools/call", json!({"name": "quick"}))
        .await;
    assert_eq!(show(&client.hear().await["result"]), "done");
    client.close().await;
}

#[tokio::test]
async fn so_many_calls_run_at_once_and_no_more() {
    let notify = std::sync::Arc::new(Notify::new());
    let mut client = Client::of(server().state(std::sync::Arc::clone(&notify)));
    for id in 1..=3 {
        client
            .request(id, "tools/call", json!({"name": "waits"}))
            .await;
    }
    let refused = client.hear().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(3), &json!(-32603))
    );
    notify.notify_one();
    assert_eq!(show(&client.hear().await["result"]), "waited");
    client.cancel(1).await;
    client.cancel(2).await;
    client.close().await;
}

#[tokio::test]
async fn calls_of_one_id_are_as_many_as_calls_of_several() {
    let mut client = Client::of(server().state(std::sync::Arc::new(Notify::new())));
    for _ in 1..=3 {
        client
            .request(1, "tools/call", json!({"name": "waits"}))
            .await;
    }
    assert_eq!(client.hear().await["error"]["code"], -32603);
    client.cancel(1).await;
}

#[tokio::test]
async fn the_end_of_the_input_drains_what_is_running() {
    let notify = std::sync::Arc::new(Notify::new());
    let mut client = Client::of(server().state(std::sync::Arc::clone(&notify)));
    client
        .request(1, "tools/call", json!({"name": "waits"}))
        .await;
    notify.notify_one();
    let said = client.close().await;
    assert_eq!(show(&said[0]["result"]), "waited");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_ends_what_does_not_end_by_itself() {
    let mut client = Client::of(server().state(std::sync::Arc::new(Notify::new())));
    client
        .request(1, "tools/call", json!({"name": "waits"}))
        .await;
    assert_eq!(client.close().await.len(), 0);
}

#[tokio::test]
async fn a_last_line_without_an_end_is_a_message_too() {
    let mut client = Client::of(server().state(std::sync::Arc::new(Notify::new())));
    client
        .write(br#"{"jsonrpc":"2.0","id":1,"method":"nonsense"}"#)
        .await;
    let said = client.close().await;
    assert_eq!(said[0]["id"], 1);
}
