//! Mistakes of an author: who is told, and in which words.

use std::io;

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::auth::Gate;
use sterna_server::{Answers, Call, Cx, Server, ShowMistakes, StartError, Tool, ToolError};

use super::{CAPABILITIES, Client, VERSION};

#[derive(Deserialize, JsonSchema)]
struct Nested {
    #[expect(dead_code, reason = "never asked for")]
    inner: Vec<Vec<String>>,
}

async fn form(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let _: Nested = cx.ask("x", "?").await?;
    Ok(String::new())
}

async fn panics(_: Cx<'_>, (): ()) -> String {
    panic!("no such row")
}

async fn state(cx: Cx<'_>, (): ()) -> String {
    cx.state::<Vec<u8>>().len().to_string()
}

async fn once(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    Ok(cx
        .once("charge", |_| async { "charged".to_owned() })
        .await?)
}

async fn low_level(_: Call, _: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
    panic!("at the lower level")
}

async fn liar(_: Cx<'_>, (): ()) -> &'static str {
    "no structure"
}

fn server() -> Server {
    Server::new("mistaken", "1")
        .tool("form", "", form)
        .tool("panics", "", panics)
        .tool("state", "", state)
        .tool("once", "", once)
        .offer(Tool::low_level("low_level", "", low_level))
        .offer(Tool::new("liar", "", liar).output_schema(json!({"type": "object"})))
}

const TOOLS: [&str; 6] = ["form", "panics", "state", "once", "low_level", "liar"];

fn call(name: &str, id: usize) -> Value {
    let params = json!({"name": name, "arguments": {}, "_meta": {
        VERSION: "2026-07-28",
        CAPABILITIES: {"elicitation": {"form": {}}},
    }});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// What a client on the standard streams is told by each of the tools.
async fn on_lines(server: Server) -> String {
    let names = TOOLS.iter().enumerate();
    let lines: String = names
        .map(|(id, name)| format!("{}\n", call(name, id)))
        .collect();
    let mut output = Vec::new();
    let service = server.build().unwrap();
    service
        .serve_lines(lines.as_bytes(), &mut output)
        .await
        .unwrap();
    let answers = serde_json::Deserializer::from_slice(&output).into_iter::<Value>();
    let mut answers: Vec<_> = answers.map(Result::unwrap).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let told = answers
        .iter()
        .map(|answer| answer["error"]["message"].as_str().unwrap());
    told.collect::<Vec<_>>().join("\n")
}

/// What a client of a mounted server is told by each of the tools.
async fn mounted(server: Server) -> String {
    let client = Client::of(server);
    let mut told = Vec::new();
    for name in TOOLS {
        let reply = client
            .send("tools/call", json!({"name": name, "arguments": {}}))
            .await;
        let error = &reply.messages.last().unwrap()["error"];
        told.push(error["message"].as_str().unwrap().to_owned());
    }
    told.join("\n")
}

fn shown(server: Server, show: ShowMistakes) -> Server {
    server.configure(|config| config.show_mistakes = show)
}

fn in_full() -> Expect {
    expect![[r"
        MR0201: `it::mcp::author_mistakes::Nested` cannot be a form: field `inner` is a list; only a list of enum values can be a form field
        MR0100: the handler panicked: no such row
        MR0100: the handler panicked: MR0211: the server was given no `alloc::vec::Vec<u8>`: give it one with `Server::state`
        MR0110: `charge` runs at most once, which needs a ledger, and none is configured: a server has one when it is given a store
        MR0100: the handler panicked: at the lower level
        MR0204: the tool `liar` broke the promise of its output schema: there is no structured content"]]
}

fn not_at_all() -> String {
    ["Internal error"; TOOLS.len()].join("\n")
}

#[tokio::test]
async fn a_client_sees_mistakes_of_the_author_in_development_alone() {
    if cfg!(debug_assertions) {
        in_full().assert_eq(&on_lines(server()).await);
    } else {
        assert_eq!(on_lines(server()).await, not_at_all());
    }
    assert_eq!(
        on_lines(shown(server(), ShowMistakes::Never)).await,
        not_at_all()
    );
    assert_eq!(mounted(server()).await, not_at_all());
    let everywhere = shown(server(), ShowMistakes::ToEveryClient);
    in_full().assert_eq(&mounted(everywhere).await);
}

#[tokio::test]
async fn a_server_that_is_reached_from_elsewhere_too_shows_no_mistake() {
    let service = super::mounted(server()).build().unwrap();
    let near = service.clone();
    let client = Client::at(service);
    let mut output = Vec::new();
    let line = call("panics", 1).to_string() + "\n";
    near.serve_lines(line.as_bytes(), &mut output)
        .await
        .unwrap();
    let answer: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(answer["error"]["message"], "Internal error");
    drop(client);
}

/// What a `main` that returns the error prints.
fn printed(error: &StartError) -> String {
    format!("Error: {error:?}\n")
}

#[tokio::test]
async fn a_main_that_returns_a_start_error_prints_what_to_do() {
    let bind = || std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let service = server().gate(Gate::open()).build().unwrap();
    let no_keys = service.serve_on(bind(), async {}).await.unwrap_err();
    let text = printed(&no_keys);
    assert!(text.starts_with("Error: MR0205: 0.0.0.0:"), "{text}");
    assert!(text.contains("sterna keys new keys.toml"), "{text}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let text = printed(&server().serve(address).await.unwrap_err());
    assert!(text.contains(&address.to_string()), "{text}");
    assert!(text.contains("in use"), "{text}");
    assert!(text.contains("choose another port"), "{text}");
    let text = printed(&server().serve("127.0.0.1").await.unwrap_err());
    assert!(text.contains("write host:port"), "{text}");

    let twice = server().tool("form", "", form).tool("bad name", "", form);
    expect![[r"
        Error: MR0200: the server cannot be built
          - the tool `form` is there twice
          - the tool `bad name` has a name that is not 1 to 128 of A-Z, a-z, 0-9, `_`, `-` and `.`
    "]]
    .assert_eq(&printed(&StartError::from(twice.build().unwrap_err())));
    let lines = StartError::Lines(io::Error::other("gone"));
    expect![[r#"
        Error: the streams to the client broke: gone
    "#]]
    .assert_eq(&printed(&lines));
}
