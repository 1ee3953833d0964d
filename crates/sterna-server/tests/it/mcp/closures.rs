//! Handlers that are closures, and servers that are built on another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use sterna_server::{
    CatalogEntry, Cx, Edit, Prompt, Resource, ResourceTemplate, Server, Service, State, Tool,
    ToolError, Uri,
};

use super::{Client, accept};

#[tokio::test]
async fn a_closure_that_captures_is_a_handler_of_any_kind() {
    let count = Arc::new(AtomicU32::new(0));
    let word = "so".to_owned();
    let counted = Arc::clone(&count);
    let ask = async move |cx: Cx<'_>, (): ()| -> Result<String, ToolError> {
        counted.fetch_add(1, Ordering::Relaxed);
        let reason: String = cx.ask("reason", "Why?").await?;
        Ok(format!(
            "{reason} {word} {}",
            counted.load(Ordering::Relaxed)
        ))
    };
    let text = Arc::new("from outside".to_owned());
    let (said, read) = (Arc::clone(&text), Arc::clone(&text));
    let server = Server::new("closures", "1")
        .tool("ask", "", ask)
        .tool("plain", "", async |_: Cx<'_>, (): ()| "plain")
        .prompt("say", "", async move |_: Cx<'_>, (): ()| said.to_string())
        .resource("test://read", "read", async move |_: Cx<'_>, _: Uri| {
            read.to_string()
        });
    let client = Client::of(server);
    let rounds = [json!({"reason": accept(json!({"reason": "just"}))})];
    let shown = client.play("ask", json!({}), &rounds).await;
    assert_eq!(shown, "ask {reason: Why?} -> just so 2");
    assert_eq!(count.load(Ordering::Relaxed), 2);
    let result = client.call_tool("plain", json!({})).await;
    assert_eq!(result["content"][0]["text"], "plain");
    let result = client.send("prompts/get", json!({"name": "say"})).await;
    let result = result.into_result();
    assert_eq!(result["messages"][0]["content"]["text"], "from outside");
    let result = client
        .send("resources/read", json!({"uri": "test://read"}))
        .await;
    assert_eq!(result.into_result()["contents"][0]["text"], "from outside");
}

struct Count(AtomicU32);

impl Count {
    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

struct Unit(&'static str);

async fn alone(_: Cx<'_>) -> &'static str {
    "alone"
}

async fn counted(cx: Cx<'_>, count: State<Count>, (): ()) -> Result<String, ToolError> {
    let run = count.next();
    let reason: String = cx.ask("reason", "Why?").await?;
    Ok(format!("{reason}, run {run}"))
}

async fn measured(_: Cx<'_>, count: State<Count>, unit: State<Unit>, (): ()) -> String {
    format!("{} {}", count.next(), unit.0)
}

#[tokio::test]
async fn a_handler_takes_state_as_a_parameter_and_may_take_nothing_but_its_context() {
    let word = "so".to_owned();
    let server = Server::new("state", "1")
        .state(Count(AtomicU32::new(0)))
        .state(Unit("runs"))
        .tool("alone", "", alone)
        .tool("counted", "", counted)
        .tool("measured", "", measured)
        .tool(
            "closure",
            "",
            async move |_: Cx<'_>, unit: State<Unit>, (): ()| format!("{word} {}", unit.0),
        )
        .prompt("unit", "", async |_: Cx<'_>, unit: State<Unit>, (): ()| {
            unit.0
        })
        .resource("test://alone", "alone", alone)
        .resource(
            "test://unit",
            "unit",
            async |_: Cx<'_>, unit: State<Unit>, uri: Uri| format!("{uri} {}", unit.0),
        );
    let client = Client::of(server);
    let text = async |tool| client.call_tool(tool, json!({})).await["content"][0]["text"].take();
    assert_eq!(text("alone").await, "alone");
    let rounds = [json!({"reason": accept(json!({"reason": "just"}))})];
    let shown = client.play("counted", json!({}), &rounds).await;
    assert_eq!(shown, "ask {reason: Why?} -> just, run 2");
    assert_eq!(text("measured").await, "3 runs");
    assert_eq!(text("closure").await, "so runs");
    let prompt = client.send("prompts/get", json!({"name": "unit"})).await;
    assert_eq!(
        prompt.into_result()["messages"][0]["content"]["text"],
        "runs"
    );
    for (uri, expected) in [
        ("test://alone", "alone"),
        ("test://unit", "test://unit runs"),
    ] {
        let read = client.send("resources/read", json!({"uri": uri})).await;
        assert_eq!(read.into_result()["contents"][0]["text"], expected);
    }
}

#[test]
fn a_server_is_built_on_another_thread_than_it_was_put_together_on() {
    fn can_move<T: Send + Sync>() {}
    can_move::<Server>();
    can_move::<Service>();
    can_move::<CatalogEntry>();
    can_move::<Tool>();
    can_move::<Prompt>();
    can_move::<Resource>();
    can_move::<ResourceTemplate>();
    can_move::<Edit>();

    let server =
        Server::new("moved", "1")
            .resource("test://a", "a", async |_: Cx<'_>, uri: Uri| uri.to_string());
    let built = std::thread::spawn(move || server.build()).join().unwrap();
    assert!(built.is_ok());
}
