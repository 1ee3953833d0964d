use expect_test::expect;
use serde_json::{Value, json};
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{Cx, Server, TaskMode, Tool, ToolError};

use super::super::accept;
use super::{Fleet, capabilities, said};

async fn add(_: Cx<'_>, (): ()) -> &'static str {
    "42"
}

async fn fail(_: Cx<'_>, (): ()) -> Result<(), ToolError> {
    Err(ToolError::new("no luck"))
}

async fn panics(_: Cx<'_>, (): ()) {
    panic!("on purpose");
}

async fn wiretapped(cx: Cx<'_>, (): ()) -> Result<(), ToolError> {
    let page = "http://example.com/in".parse().unwrap();
    cx.ask_url("signin", "Sign in", page).await?;
    Ok(())
}

async fn both(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let (one, two) = tokio::join!(cx.ask::<String>("one", "One?"), cx.ask::<u8>("two", "Two?"));
    Ok(format!("{} {}", one?, two?))
}

fn server() -> Server {
    Server::new("tasks", "1")
        .offer(Tool::new("add", "", add).task(TaskMode::Optional))
        .offer(Tool::new("always", "", add).task(TaskMode::Always))
        .offer(Tool::new("fail", "", fail).task(TaskMode::Always))
        .offer(Tool::new("panics", "", panics).task(TaskMode::Always))
        .offer(Tool::new("wiretapped", "", wiretapped).task(TaskMode::Always))
        .offer(Tool::new("both", "", both).task(TaskMode::Optional))
}

#[tokio::test(start_paused = true)]
async fn a_task_is_found_on_every_instance_before_its_creation_is_answered() {
    let fleet = Fleet::new();
    let (here, there) = (fleet.front(server()), fleet.front(server()));
    let created = here.call_tool("add", json!({})).await;
    let id = created["taskId"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 32);
    let mut shown = created.clone();
    shown["taskId"] = json!("…");
    expect![[r#"{"resultType":"task","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tasks","version":"1"}},"taskId":"…","status":"working","createdAt":"2026-07-28T09:30:00.000Z","lastUpdatedAt":"2026-07-28T09:30:00.000Z","ttlMs":86400000,"pollIntervalMs":1000,"statusMessage":"The task is being worked on"}"#]]
        .assert_eq(&shown.to_string());
    let mut found = there.look(&id).await;
    assert_eq!(found["resultType"], "complete");
    found["resultType"] = json!("task");
    assert_eq!(found, created);
}

#[tokio::test(start_paused = true)]
async fn a_task_says_how_it_stands_from_its_creation_to_its_end() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(server());
    let created = client.call_tool("always", json!({})).await;
    assert_eq!(created["statusMessage"], "The task is being worked on");
    let id = created["taskId"].as_str().unwrap();
    let ended = client.ended(id).await;
    assert_eq!(ended["statusMessage"], "The task has completed");
    let task = client.begin("both", json!({})).await;
    let asking = client.until(&task, &["input_required"]).await;
    assert_eq!(asking["statusMessage"], "The task waits for an answer");
    client.send("tasks/cancel", json!({"taskId": task})).await;
    let ended = client.ended(&task).await;
    assert_eq!(ended["statusMessage"], "The task was cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_task_ends_just_as_its_call_would_have() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(server());
    let task = client.begin("add", json!({})).await;
    let shown = client.ended(&task).await;
    assert_eq!(shown["status"], "completed");
    let plain = client.with_capabilities(json!({}));
    let mut direct = plain.call_tool("add", json!({})).await;
    direct.as_object_mut().unwrap().remove("resultType");
    assert_eq!(shown["result"], direct);
    assert!(shown.get("requestState").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_completes_its_task_and_only_a_fault_of_ours_fails_it() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(server());
    let task = client.begin("fail", json!({})).await;
    let shown = client.ended(&task).await;
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["result"]["isError"], true);
    assert_eq!(said(&shown), "no luck");
    let task = client.begin("panics", json!({})).await;
    let shown = client.ended(&task).await;
    assert_eq!(shown["status"], "failed");
    assert_eq!(
        shown["error"],
        json!({"code": -32603, "message": "Internal error"})
    );
    assert_eq!(shown["statusMessage"], "Internal error");
    assert!(shown.get("result").is_none());
}

#[tokio::test(start_paused = true)]
async fn no_task_sends_its_user_to_a_page_that_is_not_https() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(server());
    let task = client.begin("wiretapped", json!({})).await;
    let shown = client.until(&task, &["input_required", "failed"]).await;
    assert_eq!(shown["status"], "failed", "{shown}");
    assert!(shown.get("inputRequests").is_none());
}

#[tokio::test(start_paused = true)]
async fn questions_are_answered_one_by_one_in_any_order_and_once() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(server());
    let task = client.begin("both", json!({})).await;
    let shown = client.until(&task, &["input_required"]).await;
    assert_eq!(keys(&shown), ["one", "two"]);
    assert_eq!(
        shown["inputRequests"]["one"]["method"],
        "elicitation/create"
    );
    let answers = json!({
        "two": accept(json!({"two": 2})),
        "never_asked": accept(json!({})),
        "": accept(json!({})),
    });
    let acknowledged = client.update(&task, answers).await;
    assert_eq!(acknowledged["resultType"], "complete");
    assert_eq!(acknowledged.as_object().unwrap().len(), 2);
    let shown = client.look(&task).await;
    assert_eq!(shown["status"], "input_required");
    assert_eq!(keys(&shown), ["one"]);
    // The first answer counts, however often and whatever else is sent.
    client
        .update(&task, json!({"two": accept(json!({"two": 3}))}))
        .await;
    client
        .update(&task, json!({"one": accept(json!({"one": "1"}))}))
        .await;
    let shown = client.ended(&task).await;
    assert_eq!(said(&shown), "1 2");
    let late = client
        .update(&task, json!({"one": accept(json!({"one": "9"}))}))
        .await;
    assert_eq!(late["resultType"], "complete");
    assert_eq!(client.ended(&task).await, shown);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_is_asked_for_again_under_another_key() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(server());
    let task = client.begin("both", json!({})).await;
    client.until(&task, &["input_required"]).await;
    let answers = json!({
        "one": accept(json!({"one": "1"})),
        "two": accept(json!({"two": "many"})),
    });
    client.update(&task, answers).await;
    let shown = client.until(&task, &["input_required"]).await;
    assert_eq!(keys(&shown), ["two~2"]);
    client
        .update(&task, json!({"two~2": accept(json!({"two": 2}))}))
        .await;
    assert_eq!(said(&client.ended(&task).await), "1 2");
}

#[tokio::test(start_paused = true)]
async fn only_a_request_that_declares_the_extension_becomes_a_task() {
    let mut fleet = Fleet::new();
    let client = fleet.instance(server());
    let legacy = json!({"tasks": {"requests": {"tools": {"call": {}}}}});
    for capabilities in [json!({}), legacy] {
        let client = client.with_capabilities(capabilities);
        let result = client.call_tool("add", json!({})).await;
        assert_eq!(result["resultType"], "complete");
        let params = json!({"name": "always", "arguments": {}});
        let refused = client.send("tools/call", params).await.error();
        let needed = r#"400 -32021 "Missing required client capability `extensions.io.modelcontextprotocol/tasks`: declare it in `io.modelcontextprotocol/clientCapabilities` of the request's `_meta`" {"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
        assert_eq!(refused, needed);
        for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
            let params = json!({"taskId": "gate-test", "inputResponses": {}});
            assert_eq!(client.send(method, params).await.error(), needed);
        }
        let listen = json!({"notifications": {"taskIds": ["gate-test"]}});
        let refused = client.send("subscriptions/listen", listen).await;
        assert_eq!(refused.error(), needed);
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_the_extension_has_is_served() {
    let fleet = Fleet::new();
    let client = fleet.front(server());
    for method in ["tasks/result", "tasks/list", "tasks/input_response"] {
        let reply = client.send(method, json!({"taskId": "x"})).await;
        let unknown =
            format!("404 -32601 \"Method not found: `{method}`; this server does not offer it\"");
        assert_eq!(reply.error(), unknown);
    }
    let found = client.send("server/discover", json!({})).await;
    let declared = &found.into_result()["capabilities"];
    assert_eq!(
        declared["extensions"],
        json!({"io.modelcontextprotocol/tasks": {}})
    );
    assert!(declared.get("tasks").is_none());
    let params = json!({"name": "add", "arguments": {}, "task": {"ttl": 1}});
    let plain = client.with_capabilities(json!({}));
    let result = plain.send("tools/call", params).await.into_result();
    assert_eq!(result["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn a_foreign_task_and_one_that_never_was_answer_the_same() {
    let tokens = StaticTokens::parse("token-of-ada ada\ntoken-of-bob bob").unwrap();
    let fleet = Fleet::new();
    let client = fleet.front(server().gate(Gate::guarded(tokens)));
    let ada = client.with_token("token-of-ada");
    let bob = client.with_token("token-of-bob");
    let task = ada.begin("both", json!({})).await;
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        for id in [task.as_str(), &"0".repeat(32), "no id at all"] {
            let params = json!({"taskId": id, "inputResponses": {}});
            let reply = bob.send(method, params).await;
            assert_eq!(reply.error(), r#"200 -32602 "Unknown task""#, "{method}");
        }
    }
    assert_eq!(ada.look(&task).await["status"], "working");
}

#[tokio::test(start_paused = true)]
async fn what_a_client_cannot_be_asked_fails_its_task() {
    let mut fleet = Fleet::new();
    let mut without = capabilities();
    without.as_object_mut().unwrap().remove("elicitation");
    let client = fleet.instance(server()).with_capabilities(without);
    let task = client.begin("both", json!({})).await;
    let shown = client.ended(&task).await;
    assert_eq!(shown["status"], "failed");
    assert_eq!(shown["error"]["code"], -32021);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_object_is_malformed() {
    let fleet = Fleet::new();
    let client = fleet.front(server());
    let task = client.begin("both", json!({})).await;
    for responses in [json!({"one": 1}), json!([]), Value::Null] {
        let params = json!({"taskId": task, "inputResponses": responses});
        let error = client.send("tasks/update", params).await.error();
        assert!(error.contains("-32602"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_name_header_is_the_task_id() {
    let fleet = Fleet::new();
    let client = fleet.front(server());
    let task = client.begin("both", json!({})).await;
    let mut headers = super::super::headers("2026-07-28", "tasks/get");
    headers.insert("mcp-name", "another".parse().unwrap());
    let meta = json!({
        super::super::VERSION: "2026-07-28",
        super::super::CAPABILITIES: capabilities(),
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": task, "_meta": meta}});
    let reply = client.post(headers, body.to_string()).await;
    let reply = super::super::Reply::read(reply).await;
    assert!(reply.error().starts_with("400 -32020"), "{}", reply.error());
}

fn keys(task: &Value) -> Vec<&String> {
    task["inputRequests"].as_object().unwrap().keys().collect()
}
