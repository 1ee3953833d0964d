//! Names, lists and values that are longer than anybody needs.

use serde_json::{Value, json};
use sterna_server::http::HttpConfig;
use sterna_server::{Cx, Server, Uri};

use super::subscriptions::next;
use super::{Client, Reply, headers};

async fn read(_: Cx<'_>, uri: Uri) -> String {
    uri.to_string()
}

async fn hello(_: Cx<'_>, (): ()) -> &'static str {
    "hello"
}

fn server() -> Server {
    Server::new("sizes", "1")
        .tool("hello", "Says hello", hello)
        .resource("test://a", "a", read)
}

#[tokio::test]
async fn a_request_id_of_more_than_a_kibibyte_is_refused_and_not_repeated() {
    let client = Client::of(server());
    for (length, status) in [(1024, 200), (1025, 400), (3 << 20, 400)] {
        let message = json!({
            "jsonrpc": "2.0",
            "id": "x".repeat(length),
            "method": "tools/list",
            "params": {"_meta": {
                super::VERSION: "2026-07-28",
                super::CAPABILITIES: {},
            }},
        });
        let headers = headers("2026-07-28", "tools/list");
        let reply = Reply::read(client.post(headers, message.to_string()).await).await;
        assert_eq!(reply.status, status, "{length}");
        let answer = &reply.messages[0];
        if status == 400 {
            assert_eq!(answer["error"]["code"], -32600);
            assert!(answer.to_string().len() < 300, "{length}");
        }
    }
}

#[tokio::test]
async fn a_progress_token_of_more_than_a_kibibyte_is_refused() {
    let client = Client::of(server());
    let call = json!({"name": "hello", "arguments": {}});
    for (length, status) in [(1024, 200), (1025, 400)] {
        let client = client.with_meta("progressToken", json!("x".repeat(length)));
        let reply = client.send("tools/call", call.clone()).await;
        assert_eq!(reply.status, status, "{length}");
    }
}

#[tokio::test]
async fn a_listener_names_so_many_resources_and_no_more() {
    let client = Client::of(server());
    let listen = |uris: Vec<String>| {
        let filter = json!({"resourceSubscriptions": uris});
        client.open("subscriptions/listen", json!({"notifications": filter}))
    };
    let mut taken = listen(vec![String::new(); 1024]).await;
    let first = next(&mut taken).await;
    let agreed = &first["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(agreed.as_array().map(Vec::len), Some(1024));
    for refused in [
        vec![String::new(); 1025],
        vec![format!("test://{}", "x".repeat(4096))],
    ] {
        let response = listen(refused).await;
        // A stream that was opened has no end to be read.
        assert_eq!(response.status(), 400);
        let error = Reply::read(response).await.error();
        assert!(error.contains("-32602"), "{error}");
        assert!(error.contains("resourceSubscriptions"), "{error}");
    }
}

#[tokio::test]
async fn what_all_listeners_name_together_has_its_share_of_the_memory_and_no_more() {
    let mut http = HttpConfig::default();
    http.limits.buffered_bytes = 1 << 20;
    let client = Client::of(server().http(http));
    let uris: Vec<_> = (0..100)
        .map(|number| format!("test://{number:01000}"))
        .collect();
    let filter = json!({"resourceSubscriptions": uris});
    let listen = || client.open("subscriptions/listen", json!({"notifications": filter}));
    // A hundred kilobytes each, of a quarter of a mebibyte.
    let held = [listen().await, listen().await];
    assert_eq!(
        held.each_ref().map(|held| held.status().as_u16()),
        [200, 200]
    );
    assert_eq!(listen().await.status(), 503);
    assert_eq!(
        client.call_tool("hello", json!({})).await["isError"],
        Value::Null
    );
    drop(held);
    assert_eq!(listen().await.status(), 200);
}

#[tokio::test]
async fn a_listener_that_leaves_is_forgotten_at_once() {
    let service = super::mounted(server()).build().unwrap();
    let changes = service.changes().clone();
    let client = Client::at(service);
    let filter = json!({"notifications": {"resourceSubscriptions": ["test://a"]}});
    let stream = client.open("subscriptions/listen", filter).await;
    assert_eq!(format!("{changes:?}"), "Changes(1 subscribers)");
    drop(stream);
    assert_eq!(format!("{changes:?}"), "Changes(0 subscribers)");
}

#[tokio::test]
async fn arguments_that_take_more_memory_than_a_request_may_are_refused() {
    let client = Client::of(server());
    let lists = "[],".repeat(1 << 20);
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{{"{}":"2026-07-28","{}":{{}}}},"name":"hello","arguments":{{"unread":[{lists}1]}}}}}}"#,
        super::VERSION,
        super::CAPABILITIES,
    );
    let mut headers = headers("2026-07-28", "tools/call");
    headers.insert("mcp-name", "hello".parse().unwrap());
    let reply = Reply::read(client.post(headers, message).await).await;
    assert_eq!(reply.status, 413);
}
