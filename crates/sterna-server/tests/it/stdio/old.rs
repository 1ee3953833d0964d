use serde_json::{Value, json};
use sterna_server::{Cx, Server};

use super::Client;
use crate::legacy::asking;
use crate::legacy::show;
use crate::mcp::{accept, changing};

async fn touch(cx: Cx<'_>, (): ()) {
    changing::tools(cx.request().changes());
}

async fn session(version: &str) -> Client {
    let server: Server = asking::server()
        .tool("touch", "Changes the tools", touch)
        .dynamic_lists();
    let mut client = Client::of(server);
    let params = json!({
        "protocolVersion": version,
        "capabilities": {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
        "clientInfo": {"name": "old", "version": "1"},
    });
    client.old_request(0, "initialize", params).await;
    let hello = client.hear().await;
    assert_eq!(hello["result"]["protocolVersion"], version);
    client
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    client
}

async fn answer(client: &mut Client, question: &Value, result: Value) {
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    client.say(&answer).await;
}

#[tokio::test]
async fn an_old_client_is_asked_by_requests() {
    let mut client = session("2025-11-25").await;
    let model =
        json!({"role": "assistant", "model": "m1", "content": {"type": "text", "text": "a"}});
    let cases = [
        (
            "tools/call",
            json!({"name": "name"}),
            accept(json!({"name": "Ada"})),
            "Hello, Ada!",
        ),
        (
            "tools/call",
            json!({"name": "visit"}),
            json!({"action": "accept"}),
            "visited",
        ),
        ("tools/call", json!({"name": "model"}), model, "by m1"),
        (
            "tools/call",
            json!({"name": "places"}),
            json!({"roots": []}),
            "0 roots",
        ),
        (
            "prompts/get",
            json!({"name": "brief"}),
            accept(json!({"audience": "cats"})),
            "For cats",
        ),
        (
            "resources/read",
            json!({"uri": "test://secret"}),
            accept(json!({"pin": "1"})),
            "test://secret opened with 1",
        ),
        (
            "tools/call",
            json!({"name": "name"}),
            json!({"action": "decline"}),
            "error: The user declined.",
        ),
    ];
    for (method, params, content, expected) in cases {
        client.old_request(5, method, params).await;
        let question = client.hear().await;
        answer(&mut client, &question, content).await;
        assert_eq!(show(&client.hear().await), expected);
    }
    client.close().await;
}

#[tokio::test]
async fn an_old_client_hears_of_changes() {
    let mut client = session("2025-06-18").await;
    client.old_request(1, "ping", json!({})).await;
    assert_eq!(client.hear().await["result"], json!({}));
    client
        .old_request(2, "tools/call", json!({"name": "touch"}))
        .await;
    let (one, two) = (client.hear().await, client.hear().await);
    let changed = if one.get("id").is_some() { two } else { one };
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    client.close().await;
}

#[tokio::test]
async fn a_batch_is_one_line_in_and_one_line_out() {
    let mut client = session("2025-03-26").await;
    let ping = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    client
        .write(format!("{}\n", json!([ping(1), ping(2)])).as_bytes())
        .await;
    let line = client.output.next_line().await.unwrap().unwrap();
    let answers: Vec<Value> = serde_json::from_str(&line).unwrap();
    assert_eq!(answers.len(), 2);
    client.close().await;
}

#[tokio::test]
async fn a_question_that_nobody_will_answer_does_not_keep_the_server() {
    let mut client = session("2025-11-25").await;
    client
        .old_request(1, "tools/call", json!({"name": "name"}))
        .await;
    client.hear().await;
    let said = client.close().await;
    assert_eq!(show(said.last().unwrap()), "error: The client is gone.");
}

#[tokio::test]
async fn a_modern_request_in_between_is_served_as_one() {
    let mut client = session("2025-11-25").await;
    client
        .request(1, "tools/call", json!({"name": "name"}))
        .await;
    assert_eq!(
        client.hear().await["result"]["resultType"],
        "input_required"
    );
    client.close().await;
}

#[tokio::test]
async fn a_modern_server_says_what_it_speaks() {
    let mut client = Client::of(asking::server().without_sessions());
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}});
    client.old_request(0, "initialize", params).await;
    let refusal = client.hear().await;
    assert_eq!(refusal["error"]["code"], -32022);
    assert_eq!(refusal["error"]["data"]["supported"], json!(["2026-07-28"]));
    client.close().await;
}
