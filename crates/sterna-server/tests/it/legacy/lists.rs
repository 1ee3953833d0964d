use serde_json::{Value, json};
use sterna_server::{CompletionRequest, Cx, Json, Prompt, Server, ServerConfig, Tool};

use super::{Session, next, show};

async fn nothing(_: Cx<'_>, (): ()) -> &'static str {
    "done"
}

async fn seven(_: Cx<'_>, (): ()) -> Json<u8> {
    Json(7)
}

async fn suggest(typed: CompletionRequest) -> Vec<String> {
    vec![format!("{}!", typed.value)]
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Topic {
    topic: String,
}

async fn about(_: Cx<'_>, topic: Topic) -> String {
    topic.topic
}

async fn session() -> Session {
    let mut config = ServerConfig::default();
    config.page = 2;
    let server = Server::new("lists", "1")
        .tool("a", "One", nothing)
        .tool("b", "Two", nothing)
        .offer(Tool::new("c", "Three", seven).output::<u8>())
        .offer(Prompt::new("p", "About", about).completing("topic", suggest))
        .config(config);
    Session::of(server).await
}

#[tokio::test]
async fn a_list_has_the_shape_of_its_revision_and_pages() {
    let session = session().await;
    let first = session.send("tools/list", json!({})).await.into_result();
    let names = |page: &Value| {
        let tools = page["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&first), ["a", "b"]);
    let members: Vec<_> = first.as_object().unwrap().keys().collect();
    assert_eq!(members, ["tools", "nextCursor"]);
    let params = json!({"cursor": first["nextCursor"]});
    let second = session.send("tools/list", params).await.into_result();
    assert_eq!(names(&second), ["c"]);
    // The older revisions know no output but objects.
    assert_eq!(second["tools"][0].get("outputSchema"), None);
    let prompts = session.send("prompts/list", json!({})).await.into_result();
    assert_eq!(prompts["prompts"][0]["name"], "p");
}

#[tokio::test]
async fn a_request_without_params_is_served() {
    let session = session().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let answer = next(&mut session.post(list).await).await;
    assert_eq!(answer["result"]["tools"][0]["name"], "a");
}

#[tokio::test]
async fn structured_content_that_is_no_object_is_left_out() {
    let session = session().await;
    let mut answer = session.start("tools/call", json!({"name": "c"})).await;
    let answer = next(&mut answer).await;
    assert_eq!(answer["result"].get("structuredContent"), None);
    assert_eq!(show(&answer), "7");
}

#[tokio::test]
async fn a_tool_that_is_asked_to_be_a_task_is_run_all_the_same() {
    let session = session().await;
    let params = json!({"name": "a", "task": {"ttl": 1000}});
    assert_eq!(session.play("tools/call", params, &[]).await, "done");
}

#[tokio::test]
async fn arguments_are_completed() {
    let session = session().await;
    let params = json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "topic", "value": "x"}});
    let result = session
        .send("completion/complete", params)
        .await
        .into_result();
    assert_eq!(result, json!({"completion": {"values": ["x!"]}}));
}
