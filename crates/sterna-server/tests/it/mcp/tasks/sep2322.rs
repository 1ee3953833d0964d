//! The tasks of SEP-2322 itself, message by message.

use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{Cx, Server, TaskMode, Tool, ToolError};
use tokio::time::Instant;

use super::super::{Client, Reply, accept};
use super::{Fleet, capabilities};

async fn echo(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let input: String = cx.ask("input", "What shall I say?").await?;
    Ok(format!("Echo: {input}"))
}

async fn both(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let (one, two) = tokio::join!(cx.ask::<String>("one", "One?"), cx.ask::<u8>("two", "Two?"));
    Ok(format!("{} {}", one?, two?))
}

async fn order(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let size: String = cx.ask("size", "Which size?").await?;
    cx.become_task().await;
    let colour: String = cx.ask("colour", "Which colour?").await?;
    Ok(format!("{size} {colour}"))
}

async fn nap(cx: Cx<'_>, (): ()) {
    cx.step("nap", || tokio::time::sleep(NAP)).await;
}

async fn fail(_: Cx<'_>, (): ()) -> Result<(), ToolError> {
    Err(ToolError::new("no luck"))
}

async fn panics(_: Cx<'_>, (): ()) {
    panic!("on purpose");
}

fn server() -> Server {
    Server::new("tasks", "1")
        .sep2322_tasks()
        .tool("never", "", echo)
        .offer(Tool::new("echo", "", echo).task(TaskMode::Optional))
        .offer(Tool::new("both", "", both).task(TaskMode::Optional))
        .offer(
            Tool::new("order", "", order)
                .task(TaskMode::Optional)
                .task_on_demand(),
        )
        .offer(Tool::new("always", "", fail).task(TaskMode::Always))
        .offer(Tool::new("panics", "", panics).task(TaskMode::Optional))
}

/// A client that knows nothing of the extension.
fn client(fleet: &mut Fleet) -> Client {
    fleet.instance(server()).with_capabilities(undeclared())
}

fn undeclared() -> Value {
    json!({"elicitation": {"form": {}}})
}

impl Client {
    async fn call_as_task(&self, tool: &str) -> Reply {
        let params = json!({"name": tool, "arguments": {}, "task": {"ttl": 60000}});
        self.send("tools/call", params).await
    }

    async fn begin_as_task(&self, tool: &str) -> String {
        let created = self.call_as_task(tool).await.into_result();
        created["task"]["taskId"].as_str().unwrap().to_owned()
    }

    async fn outcome(&self, task: &str) -> Reply {
        self.send("tasks/result", json!({"taskId": task})).await
    }

    async fn respond(&self, task: &str, answers: Value) -> Reply {
        let related = json!({"taskId": task});
        let client = self.with_meta(RELATED, related);
        let params = json!({"inputResponses": answers});
        client.send("tasks/input_response", params).await
    }
}

/// A message whose task, times and server are the same in every run.
fn steady(mut message: Value, task: &str) -> String {
    if let Some(meta) = message["_meta"].as_object_mut() {
        meta.remove("io.modelcontextprotocol/serverInfo").unwrap();
    }
    message.to_string().replace(task, "…")
}

#[tokio::test(start_paused = true)]
async fn a_task_of_the_proposal_asks_with_a_result_and_is_answered_by_a_request() {
    let mut fleet = Fleet::new();
    let client = client(&mut fleet);
    let created = client.call_as_task("echo").await.into_result();
    let task = created["task"]["taskId"].as_str().unwrap().to_owned();
    expect![[r#"{"resultType":"complete","task":{"taskId":"…","status":"working","createdAt":"2026-07-28T09:30:00.000Z","lastUpdatedAt":"2026-07-28T09:30:00.000Z","ttl":60000,"pollInterval":1000,"statusMessage":"The task is being worked on"},"_meta":{}}"#]]
        .assert_eq(&steady(created, &task));
    // It waits until there is something to say.
    let asked = client.outcome(&task).await.into_result();
    expect![[r#"{"resultType":"input_required","inputRequests":{"input":{"method":"elicitation/create","params":{"mode":"form","message":"What shall I say?","requestedSchema":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"…"}}}"#]]
        .assert_eq(&steady(asked, &task));
    let shown = client.look(&task).await;
    assert_eq!(shown["status"], "input_required");
    assert_eq!(shown["ttl"], 60000);
    assert!(shown.get("inputRequests").is_none(), "{shown}");
    let answer = json!({"input": accept(json!({"input": "Hello"}))});
    let acknowledged = client.respond(&task, answer).await.into_result();
    expect![[r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"…"}}}"#]]
        .assert_eq(&steady(acknowledged, &task));
    let done = client.outcome(&task).await.into_result();
    expect![[r#"{"resultType":"complete","content":[{"type":"text","text":"Echo: Hello"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"…"}}}"#]]
        .assert_eq(&steady(done, &task));
    assert_eq!(client.look(&task).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_hears_of_the_end_at_once() {
    let mut fleet = Fleet::new();
    let server = server().offer(Tool::new("nap", "", nap).task(TaskMode::Optional));
    let client = fleet.instance(server).with_capabilities(undeclared());
    // A server that has begun to work sweeps, which has every request look.
    let task = client.begin_as_task("nap").await;
    client.outcome(&task).await.into_result();
    let since = Instant::now();
    let task = client.begin_as_task("nap").await;
    client.outcome(&task).await.into_result();
    assert!(since.elapsed() < 2 * NAP, "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn incomplete_answers_leave_the_task_where_it_is_and_are_asked_for_again() {
    let mut fleet = Fleet::new();
    let client = client(&mut fleet);
    let task = client.begin_as_task("both").await;
    let asked = client.outcome(&task).await.into_result()["inputRequests"].take();
    for answers in [
        json!({}),
        json!({"never_asked": accept(json!({"x": 1}))}),
        json!({"one": accept(json!({"not_requested_parameter": "x"}))}),
        json!({"one": {"action": "accept"}}),
        json!({"one": {"answer": 42}}),
        json!({"two": accept(json!({"two": "many"}))}),
    ] {
        let acknowledged = client.respond(&task, answers).await.into_result();
        assert_eq!(acknowledged["resultType"], "complete");
        assert_eq!(client.look(&task).await["status"], "input_required");
        let again = client.outcome(&task).await.into_result();
        assert_eq!(again["inputRequests"], asked);
    }
    let one = json!({"one": accept(json!({"one": "1"}))});
    client.respond(&task, one).await.into_result();
    let asked = client.outcome(&task).await.into_result();
    let left: Vec<_> = asked["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(left, ["two"]);
    let two = json!({"two": accept(json!({"two": 2}))});
    client.respond(&task, two).await.into_result();
    let done = client.outcome(&task).await.into_result();
    assert_eq!(done["content"][0]["text"], "1 2");
}

#[tokio::test(start_paused = true)]
async fn a_user_who_declines_has_answered() {
    let mut fleet = Fleet::new();
    let client = client(&mut fleet);
    let task = client.begin_as_task("echo").await;
    client.outcome(&task).await.into_result();
    let no = json!({"input": {"action": "decline"}});
    client.respond(&task, no).await.into_result();
    let done = client.outcome(&task).await.into_result();
    assert_eq!(done["isError"], true);
    // In the words of 2025-11-25 that is a failure.
    assert_eq!(client.look(&task).await["status"], "failed");
}

#[tokio::test(start_paused = true)]
async fn a_call_asks_in_rounds_first_and_is_a_task_then() {
    let mut fleet = Fleet::new();
    let client = client(&mut fleet);
    let params = json!({"name": "order", "arguments": {}, "task": {"ttl": 60000}});
    let asked = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    assert_eq!(asked["resultType"], "input_required");
    let answer = json!({"size": accept(json!({"size": "small"}))});
    let created = client.retry("tools/call", &params, &asked, answer).await;
    let created = created.into_result();
    let task = created["task"]["taskId"].as_str().unwrap();
    assert_eq!(created["task"]["ttl"], 60000);
    client.outcome(task).await.into_result();
    let answer = json!({"colour": accept(json!({"colour": "red"}))});
    client.respond(task, answer).await.into_result();
    let done = client.outcome(task).await.into_result();
    assert_eq!(done["content"][0]["text"], "small red");
}

#[tokio::test(start_paused = true)]
async fn a_call_is_a_task_of_the_proposal_only_if_it_says_so() {
    let mut fleet = Fleet::new();
    let client = client(&mut fleet);
    let plain = client.call_tool("echo", json!({})).await;
    assert_eq!(plain["resultType"], "input_required");
    assert_eq!(
        client.call_as_task("never").await.error(),
        r#"200 -32601 "The tool does not run as a task; call it without `task`""#
    );
    let params = json!({"name": "always", "arguments": {}});
    let refused = client.send("tools/call", params).await.error();
    assert!(refused.starts_with("400 -32021"), "{refused}");
    let params = json!({"name": "echo", "arguments": {}, "task": 1});
    let refused = client.send("tools/call", params).await.error();
    assert!(
        refused.starts_with(r#"400 -32602 "Invalid params: `task` must be an object"#),
        "{refused}"
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_declares_the_extension_speaks_it_and_nothing_else() {
    let mut fleet = Fleet::new();
    let client = client(&mut fleet).with_capabilities(capabilities());
    let created = client.call_as_task("echo").await.into_result();
    assert_eq!(created["resultType"], "task");
    let task = created["taskId"].as_str().unwrap();
    let shown = client.until(task, &["input_required"]).await;
    assert!(shown["inputRequests"].is_object());
    for method in ["tasks/result", "tasks/input_response"] {
        let reply = client.send(method, json!({"taskId": task})).await;
        let unknown =
            format!("404 -32601 \"Method not found: `{method}`; this server does not offer it\"");
        assert_eq!(reply.error(), unknown);
    }
    // One task, two ways to speak of it.
    let other = client.with_capabilities(undeclared());
    assert_eq!(other.look(task).await["pollInterval"], 1000);
    let update = json!({"taskId": task, "inputResponses": {}});
    let refused = other.send("tasks/update", update).await.error();
    assert!(refused.starts_with("400 -32021"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_cancelled_once_and_its_result_says_so() {
    let mut fleet = Fleet::new();
    let client = client(&mut fleet);
    let task = client.begin_as_task("echo").await;
    client.outcome(&task).await.into_result();
    let about = json!({"taskId": task});
    let cancelled = client.send("tasks/cancel", about.clone()).await;
    assert_eq!(cancelled.into_result()["status"], "cancelled");
    assert_eq!(
        client.send("tasks/cancel", about).await.error(),
        r#"200 -32602 "The task has ended""#
    );
    assert_eq!(
        client.outcome(&task).await.error(),
        r#"200 -32603 "The task was cancelled""#
    );
    let task = client.begin_as_task("panics").await;
    assert_eq!(
        client.outcome(&task).await.error(),
        r#"200 -32603 "Internal error""#
    );
}

#[tokio::test(start_paused = true)]
async fn a_foreign_task_is_as_unknown_to_the_proposal_as_one_that_never_was() {
    let tokens = StaticTokens::parse("token-of-ada ada\ntoken-of-bob bob").unwrap();
    let fleet = Fleet::new();
    let client = fleet.front(server().gate(Gate::guarded(tokens)));
    let client = client.with_capabilities(undeclared());
    let (ada, bob) = (
        client.with_token("token-of-ada"),
        client.with_token("token-of-bob"),
    );
    let task = ada.begin_as_task("echo").await;
    for id in [task.as_str(), &"0".repeat(32), "no id at all"] {
        for method in ["tasks/get", "tasks/cancel", "tasks/result"] {
            let reply = bob.send(method, json!({"taskId": id})).await;
            assert_eq!(reply.error(), UNKNOWN, "{method}");
        }
        let answer = json!({"input": accept(json!({"input": "Eve"}))});
        assert_eq!(bob.respond(id, answer).await.error(), UNKNOWN);
    }
    assert_eq!(ada.look(&task).await["status"], "working");
}

#[tokio::test(start_paused = true)]
async fn a_response_that_names_no_task_or_no_object_is_malformed() {
    let mut fleet = Fleet::new();
    let client = client(&mut fleet);
    let task = client.begin_as_task("echo").await;
    client.outcome(&task).await.into_result();
    let nameless = json!({"taskId": task, "inputResponses": {}});
    let refused = client.send("tasks/input_response", nameless).await.error();
    assert!(refused.contains("-32602"), "{refused}");
    for answers in [json!({"input": 1}), json!([]), Value::Null] {
        let refused = client.respond(&task, answers).await.error();
        assert!(refused.contains("-32602"), "{refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_proposal_is_declared_where_it_is_spoken() {
    let fleet = Fleet::new();
    let client = fleet.front(server());
    let found = client.send("server/discover", json!({})).await;
    let declared = &found.into_result()["capabilities"];
    assert_eq!(
        declared["tasks"],
        json!({"cancel": {}, "requests": {"tools": {"call": {}}}})
    );
    let list = client.send("tools/list", json!({})).await.into_result();
    let shown = list["tools"].as_array().unwrap().iter().map(|tool| {
        let support = tool["execution"]["taskSupport"].as_str();
        format!(
            "{} {}",
            tool["name"].as_str().unwrap(),
            support.unwrap_or("-")
        )
    });
    expect![
        "never -, echo optional, both optional, order optional, always required, panics optional"
    ]
    .assert_eq(&shown.collect::<Vec<_>>().join(", "));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_does_not_come_is_waited_for_no_longer_than_any_call() {
    let fleet = Fleet::new();
    // Nobody works here.
    let client = fleet.front(server()).with_capabilities(undeclared());
    let task = client.begin_as_task("echo").await;
    let waiting = tokio::time::timeout(Duration::from_secs(3600), client.outcome(&task));
    let reply = waiting.await.unwrap();
    assert_eq!(
        reply.error(),
        r#"504 -32603 "The call took longer than the server allows (`timeouts.call`)""#
    );
}

const RELATED: &str = "io.modelcontextprotocol/related-task";

const UNKNOWN: &str = r#"200 -32602 "Unknown task""#;

/// Less than half of the time for which changes that follow another are held back.
const NAP: Duration = Duration::from_millis(40);
