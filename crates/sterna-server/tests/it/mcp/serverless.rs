//! A server whose process may end with any response.

use expect_test::expect;
use http::Request;
use http_body_util::Full;
use serde_json::json;
use sterna_server::{Cx, Resource, Server, ServerConfig, ToolError};
use tower_service::Service as _;

use super::{Client, Reply, accept, headers, mounted};

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let name: String = cx.ask("name", "Your name?").await?;
    Ok(format!("hello {name}"))
}

async fn note(_: Cx<'_>, (): ()) -> &'static str {
    "a note"
}

fn server() -> Server {
    Server::new("greeter", "1")
        .tool("greet", "", greet)
        .offer(Resource::new("note://1", "note", note))
        .serverless()
}

#[tokio::test]
async fn round_trips_are_served_and_what_needs_a_process_is_told_so() {
    let client = Client::of(server());
    let answers = [json!({"name": accept(json!({"name": "Ada"}))})];
    let played = client.play("greet", json!({}), &answers).await;
    assert_eq!(played, "ask {name: Your name?} -> hello Ada");

    let listening = json!({"notifications": {"resourceSubscriptions": ["note://1"]}});
    let refused = client.send("subscriptions/listen", listening).await;
    expect![[r#"404 -32601 "Method not found: subscriptions/listen; this server runs serverless and keeps no stream open. Read lists and resources again when their `ttlMs` has passed, and tasks with `tasks/get`""#]]
        .assert_eq(&refused.error());
    let found = client
        .send("server/discover", json!({}))
        .await
        .into_result();
    assert_eq!(found["capabilities"]["resources"], json!({}));
}

#[tokio::test]
async fn a_client_of_an_earlier_revision_is_told_what_to_do() {
    let client = Client::of(server());
    let mut head = headers("2025-11-25", "initialize");
    head.remove("mcp-method");
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "old", "version": "1"},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let refused = Reply::read(client.post(head, body.to_string()).await).await;
    expect![[r#"400 -32022 "Unsupported protocol version `2025-11-25`; this server speaks 2026-07-28. It runs serverless and keeps no sessions: use a client of that revision, or ask the operator for an instance with sessions" {"requested":"2025-11-25","supported":["2026-07-28"]}"#]].assert_eq(&refused.error());

    let stream = Request::get("/mcp")
        .header("host", "localhost")
        .header("accept", "text/event-stream")
        .body(Full::<bytes::Bytes>::default())
        .unwrap();
    let refused = client.http.clone().call(stream).await.unwrap();
    assert_eq!(refused.status(), 405);
}

#[test]
fn settings_that_need_a_process_keep_the_server_from_being_built() {
    let mut config = ServerConfig::default();
    config.session_lifetime = Some(std::time::Duration::from_secs(60));
    let server = mounted(server()).dynamic_lists().config(config);
    let error = server.build().unwrap_err();
    expect![[r#"
        MR0200: the server cannot be built
          - MR0213: `Server::dynamic_lists` needs a process that lives on: a change is announced to clients that listen, and reaches this process alone; leave it out, or leave out `serverless`
          - MR0213: `ServerConfig::session_lifetime` needs a process that lives on: sessions of the earlier revisions have a stream that stays open; leave it out, or leave out `serverless`"#]].assert_eq(&format!("{error:?}"));
}
