use http::HeaderValue;
use serde_json::{Value, json};
use sterna_server::{AskError, Cx, Server};

use super::{CAPABILITIES, Client, Reply, VERSION, headers};

async fn echo(_: Cx<'_>, (): ()) -> &'static str {
    "echo"
}

async fn visit(cx: Cx<'_>, args: Page) -> Result<&'static str, AskError> {
    let url = args.url.parse().expect("the test sends a URL");
    cx.ask_url("page", "Go there", url).await?;
    Ok("went")
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Page {
    url: String,
}

fn client() -> Client {
    let server = Server::new("answers", "1")
        .tool("echo", "Says something", echo)
        .tool("visit", "Sends the user to a page", visit);
    Client::of(server)
}

async fn answer(id: &Value, name: &str, more: &[(&'static str, &str)]) -> Reply {
    let meta = json!({VERSION: "2026-07-28", CAPABILITIES: {}});
    let params = json!({"name": name, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    let mut headers = headers("2026-07-28", "tools/call");
    for (key, value) in [("mcp-name", name)].iter().chain(more) {
        headers.insert(*key, HeaderValue::from_str(value).unwrap());
    }
    Reply::read(client().post(headers, body.to_string()).await).await
}

#[tokio::test]
async fn an_answer_carries_the_id_of_its_request_whatever_it_is() {
    for id in [
        json!(0),
        json!(-7),
        json!(9_007_199_254_740_993_i64),
        json!("7"),
        json!(""),
    ] {
        for name in ["echo", "nothing"] {
            let reply = answer(&id, name, &[]).await;
            assert_eq!(reply.messages[0]["id"], id, "{name}");
        }
    }
}

#[tokio::test]
async fn sessions_and_event_ids_of_older_clients_mean_nothing() {
    let old = [("mcp-session-id", "abc"), ("last-event-id", "7")];
    let reply = answer(&json!(1), "echo", &old).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.headers.get("mcp-session-id"), None);
}

#[tokio::test]
async fn a_user_is_sent_to_a_page_nobody_can_change_on_the_way() {
    for (url, goes) in [
        ("https://example.com/pay", true),
        ("HTTPS://example.com/pay", true),
        ("http://localhost:8080/pay", true),
        ("http://127.0.0.1/pay", true),
        ("http://[::1]:80/pay", true),
        ("http://example.com/pay", false),
        ("http://localhost.example.com/pay", false),
        ("http://localhost@example.com/pay", false),
        ("ftp://example.com/pay", false),
    ] {
        let params = json!({"name": "visit", "arguments": {"url": url}});
        let reply = client().send("tools/call", params).await;
        assert_eq!(reply.status == 200, goes, "{url}");
    }
}
