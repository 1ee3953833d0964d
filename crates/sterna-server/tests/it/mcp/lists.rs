use std::collections::BTreeSet;

use expect_test::expect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_server::{
    AskError, CompletionRequest, Cx, ResourceTemplate, Server, ServerConfig, Tool, Uri,
};

use super::Client;

async fn nothing(_: Cx<'_>, (): ()) {}

fn server(tools: usize) -> Server {
    let mut config = ServerConfig::default();
    config.page = 2;
    let names = ["e", "d", "c", "b", "a"];
    let server = Server::new("lists", "1").config(config);
    names[..tools].iter().fold(server, |server, name| {
        server.offer(Tool::new(*name, "", nothing))
    })
}

#[tokio::test]
async fn a_list_comes_in_pages_in_the_order_of_registration() {
    let client = Client::of(server(5));
    let (mut names, mut cursors) = (Vec::new(), BTreeSet::new());
    let mut params = json!({});
    loop {
        let page = client.send("tools/list", params).await.into_result();
        for tool in page["tools"].as_array().unwrap() {
            names.push(tool["name"].as_str().unwrap().to_owned());
        }
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        assert!(cursors.insert(cursor.to_owned()));
        params = json!({"cursor": cursor});
    }
    assert_eq!(names.join(""), "edcba");
    assert_eq!(cursors.len(), 2);
}

#[tokio::test]
async fn a_cursor_that_was_not_given_out_for_this_list_is_refused() {
    let client = Client::of(server(5));
    let page = client.send("tools/list", json!({})).await.into_result();
    let cursor = page["nextCursor"].as_str().unwrap();
    let shorter = Client::of(server(3));
    for (client, cursor) in [
        (&client, "1"),
        (&client, ""),
        (&client, &cursor[..20]),
        (&shorter, cursor),
    ] {
        let reply = client.send("tools/list", json!({"cursor": cursor})).await;
        assert_eq!(
            reply.error(),
            r#"400 -32602 "Invalid params: `cursor` is none that this list gave out, or too old; begin again without one""#
        );
    }
}

#[tokio::test]
async fn every_page_may_be_kept_by_the_same_people_and_read_from_any_instance() {
    let (one, other) = (Client::of(server(5)), Client::of(server(5)));
    let first = one.send("tools/list", json!({})).await.into_result();
    let params = json!({"cursor": first["nextCursor"]});
    let second = other.send("tools/list", params).await.into_result();
    assert_eq!(first["tools"][0]["name"], "e");
    assert_eq!(second["tools"][0]["name"], "c");
    assert_eq!(first["cacheScope"], "private");
    assert_eq!(second["cacheScope"], "private");
}

async fn asks(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    cx.ask("name", "Name?").await
}

async fn asks_to_read(cx: Cx<'_>, _: Uri) -> Result<String, AskError> {
    cx.ask("name", "Name?").await
}

#[derive(Deserialize, JsonSchema)]
struct Id {
    #[expect(dead_code, reason = "nobody reads it")]
    id: String,
}

async fn asks_for(cx: Cx<'_>, _: Id) -> Result<String, AskError> {
    cx.ask("name", "Name?").await
}

async fn suggest(_: CompletionRequest) -> Vec<String> {
    vec!["a".to_owned()]
}

/// A server all of whose handlers ask.
fn asking() -> Client {
    Client::of(
        Server::new("asking", "1")
            .tool("tool", "", asks)
            .prompt("prompt", "", asks)
            .resource("test://one", "one", asks_to_read)
            .offer(ResourceTemplate::new("test://{id}/x", "x", asks_for).completing("id", suggest)),
    )
}

const QUIET: [&str; 5] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
];

#[tokio::test]
async fn only_calls_prompts_and_reads_are_answered_with_questions() {
    let client = asking();
    for (method, params) in [
        ("tools/call", json!({"name": "tool"})),
        ("prompts/get", json!({"name": "prompt"})),
        ("resources/read", json!({"uri": "test://one"})),
        ("resources/read", json!({"uri": "test://7/x"})),
    ] {
        let result = client.send(method, params).await.into_result();
        assert_eq!(result["resultType"], "input_required", "{method}");
    }
    // Answers and a state that nobody asked for change nothing.
    let more = json!({"inputResponses": {"name": {"action": "accept"}}, "requestState": "x"});
    for method in QUIET {
        let result = client.send(method, more.clone()).await.into_result();
        assert_eq!(result["resultType"], "complete", "{method}");
    }
    let complete = json!({
        "ref": {"type": "ref/resource", "uri": "test://{id}/x"},
        "argument": {"name": "id", "value": ""},
    });
    let result = client.send("completion/complete", complete).await;
    assert_eq!(result.into_result()["resultType"], "complete");
}

#[tokio::test]
async fn a_list_is_the_same_whatever_was_asked_before_and_on_whichever_connection() {
    let (used, fresh) = (asking(), asking());
    used.call_tool("tool", json!({})).await;
    used.send("resources/read", json!({"uri": "test://one"}))
        .await;
    let poorer = used.with_capabilities(json!({}));
    for method in QUIET {
        let expected = fresh.send(method, json!({})).await.into_result();
        for client in [&used, &poorer] {
            let found = client.send(method, json!({})).await.into_result();
            assert_eq!(found, expected, "{method}");
        }
    }
}

#[tokio::test]
async fn what_is_there_is_declared() {
    let found = asking().send("server/discover", json!({})).await;
    expect![[
        r#"{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{}}"#
    ]]
    .assert_eq(&found.into_result()["capabilities"].to_string());
    let bare = Client::of(Server::new("bare", "1"));
    let found = bare.send("server/discover", json!({})).await;
    expect![[r#"{"logging":{}}"#]].assert_eq(&found.into_result()["capabilities"].to_string());
}

#[tokio::test]
async fn what_is_listed_says_how_long_it_may_be_kept() {
    let page = Client::of(server(1))
        .send("tools/list", json!({}))
        .await
        .into_result();
    expect![[r#"{"resultType":"complete","tools":[{"name":"e","inputSchema":{"type":"object","additionalProperties":false},"description":""}],"ttlMs":60000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"lists","version":"1"}}}"#]]
        .assert_eq(&page.to_string());
}

#[tokio::test]
async fn discovery_declares_what_is_there_and_nothing_else() {
    let found = Client::of(server(1).instructions("Be kind."))
        .send("server/discover", json!({}))
        .await
        .into_result();
    expect![[r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"logging":{}},"instructions":"Be kind.","ttlMs":60000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"lists","version":"1"}}}"#]]
        .assert_eq(&found.to_string());
    let empty = Client::of(Server::new("lists", "1"))
        .send("server/discover", json!({}))
        .await;
    assert_eq!(
        empty.into_result()["capabilities"].get("tools"),
        None::<&Value>
    );
}
