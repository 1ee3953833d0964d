use std::collections::BTreeSet;

use expect_test::expect;
use serde_json::{Value, json};
use sterna_server::{Cx, Server, ServerConfig, Tool};

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
        assert_eq!(reply.error(), r#"400 -32602 "Invalid params: cursor""#);
    }
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
    expect![[r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{}},"instructions":"Be kind.","ttlMs":60000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"lists","version":"1"}}}"#]]
        .assert_eq(&found.to_string());
    let empty = Client::of(Server::new("lists", "1"))
        .send("server/discover", json!({}))
        .await;
    assert_eq!(
        empty.into_result()["capabilities"].get("tools"),
        None::<&Value>
    );
}
