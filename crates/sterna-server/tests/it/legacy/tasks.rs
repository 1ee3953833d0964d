use expect_test::expect;
use serde_json::{Value, json};
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{AskError, Cx, Json, SamplingRequest, Server, TaskMode, Tool, ToolError};

use super::{Session, next, show};
use crate::mcp::accept;
use crate::mcp::tasks::Fleet;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Count {
    to: u8,
}

async fn add(_: Cx<'_>, (): ()) -> &'static str {
    "42"
}

async fn seven(_: Cx<'_>, (): ()) -> Json<u8> {
    Json(7)
}

async fn count(_: Cx<'_>, count: Count) -> String {
    count.to.to_string()
}

async fn fail(_: Cx<'_>, (): ()) -> Result<(), ToolError> {
    Err(ToolError::new("no luck"))
}

async fn panics(_: Cx<'_>, (): ()) {
    panic!("on purpose");
}

async fn name(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "Who are you?").await?;
    let age: u8 = cx.ask("age", "How old are you?").await?;
    Ok(format!("{name} is {age}"))
}

async fn model(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let written = cx
        .sample("poem", SamplingRequest::new("Write a poem", 10))
        .await?;
    Ok(format!("by {}", written.model))
}

async fn places(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    Ok(format!("{} roots", cx.roots("roots").await?.len()))
}

fn server() -> Server {
    Server::new("tasks", "1")
        .tool("never", "", add)
        .offer(Tool::new("add", "", add).task(TaskMode::Optional))
        .offer(Tool::new("always", "", add).task(TaskMode::Always))
        .offer(Tool::new("seven", "", seven).task(TaskMode::Optional))
        .offer(Tool::new("count", "", count).task(TaskMode::Optional))
        .offer(Tool::new("fail", "", fail).task(TaskMode::Optional))
        .offer(Tool::new("panics", "", panics).task(TaskMode::Optional))
        .offer(Tool::new("name", "", name).task(TaskMode::Optional))
        .offer(Tool::new("model", "", model).task(TaskMode::Optional))
        .offer(Tool::new("places", "", places).task(TaskMode::Optional))
}

fn all() -> Value {
    json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}})
}

async fn session(fleet: &mut Fleet) -> Session {
    let none = Session::at(fleet.working(server()));
    none.open("2025-11-25", all()).await
}

impl Session {
    async fn task(&self, tool: &str, task: Value) -> Value {
        let params = json!({"name": tool, "arguments": {}, "task": task});
        self.send("tools/call", params).await.into_result()["task"].take()
    }

    async fn begin(&self, tool: &str) -> String {
        let task = self.task(tool, json!({})).await;
        task["taskId"].as_str().unwrap().to_owned()
    }

    async fn about(&self, method: &str, task: &str) -> crate::mcp::Reply {
        self.send(method, json!({"taskId": task})).await
    }

    /// Waits for a task and gives its result.
    async fn wait(&self, task: &str) -> Value {
        let mut stream = self.start("tasks/result", json!({"taskId": task})).await;
        last(&mut stream).await
    }
}

/// The answer at the end of a stream, whatever was told before.
async fn last(stream: &mut http::Response<sterna_server::http::ResponseBody>) -> Value {
    loop {
        let message = next(stream).await;
        if message.get("method").is_none() {
            return message;
        }
        assert_eq!(message["method"], "notifications/tasks/status");
    }
}

/// The next question of a stream.
async fn asked(stream: &mut http::Response<sterna_server::http::ResponseBody>) -> Value {
    loop {
        let message = next(stream).await;
        if message.get("id").is_some() {
            return message;
        }
        assert_eq!(message["method"], "notifications/tasks/status");
    }
}

fn related(message: &Value) -> &Value {
    &message["_meta"]["io.modelcontextprotocol/related-task"]["taskId"]
}

#[tokio::test]
async fn tasks_are_declared_to_the_revision_that_knows_them() {
    let fleet = Fleet::new();
    let tokens = StaticTokens::parse("ada-token ada").unwrap();
    let guarded = fleet.built(server().gate(Gate::guarded(tokens)));
    let declared = async |session: Session, version: &str| {
        let response = session.initialize(version, json!({})).await;
        let reply = crate::mcp::Reply::read(response).await;
        reply.into_result()["capabilities"]["tasks"].take()
    };
    let ada = Session::at(guarded).with_token("ada-token");
    let requests = json!({"tools": {"call": {}}});
    assert_eq!(
        declared(ada.clone(), "2025-11-25").await,
        json!({"list": {}, "cancel": {}, "requests": requests})
    );
    assert_eq!(declared(ada, "2025-06-18").await, Value::Null);
    // Callers without a name would see each other's tasks.
    let anonymous = Session::at(fleet.built(server()));
    assert_eq!(
        declared(anonymous, "2025-11-25").await,
        json!({"cancel": {}, "requests": requests})
    );
    let none = Session::none(Server::new("none", "1").tool("never", "", add));
    assert_eq!(declared(none, "2025-11-25").await, Value::Null);
}

#[tokio::test]
async fn a_list_says_of_each_tool_how_it_runs() {
    let fleet = Fleet::new();
    let none = Session::at(fleet.built(server()));
    let shown = async |version| {
        let session = none.open(version, json!({})).await;
        let list = session.send("tools/list", json!({})).await.into_result();
        let tools = list["tools"].as_array().unwrap().iter().take(3);
        let shown = tools.map(|tool| format!("{} {}", tool["name"], tool["execution"]));
        shown.collect::<Vec<_>>().join(", ")
    };
    expect![[
        r#""never" null, "add" {"taskSupport":"optional"}, "always" {"taskSupport":"required"}"#
    ]]
    .assert_eq(&shown("2025-11-25").await);
    expect![[r#""never" null, "add" null, "seven" null"#]].assert_eq(&shown("2025-06-18").await);
}

#[tokio::test(start_paused = true)]
async fn a_call_is_a_task_if_it_asks_for_one_and_the_tool_lets_it() {
    let mut fleet = Fleet::new();
    let none = Session::at(fleet.working(server()));
    let (new, old) = (
        none.open("2025-11-25", all()).await,
        none.open("2025-06-18", all()).await,
    );
    let call = async |session: &Session, tool: &str, task: Option<Value>| {
        let mut params = json!({"name": tool, "arguments": {}});
        if let Some(task) = task {
            params["task"] = task;
        }
        let mut answer = session.start("tools/call", params).await;
        let answer = next(&mut answer).await;
        match answer["result"]["task"]["status"].as_str() {
            Some(status) => format!("task: {status}"),
            None => show(&answer),
        }
    };
    let task = || Some(json!({"ttl": 60_000}));
    assert_eq!(call(&new, "add", None).await, "42");
    assert_eq!(call(&new, "add", task()).await, "task: working");
    assert_eq!(call(&new, "always", task()).await, "task: working");
    assert_eq!(
        call(&new, "always", None).await,
        r#"-32601 "The tool runs as a task only; call it with `task`""#
    );
    assert_eq!(
        call(&new, "never", task()).await,
        r#"-32601 "The tool does not run as a task; call it without `task`""#
    );
    assert_eq!(
        call(&new, "nothing", task()).await,
        r#"-32602 "Unknown tool `nothing`; `tools/list` has those of this server""#
    );
    // A revision without tasks has neither them nor what is nothing else.
    assert_eq!(call(&old, "add", task()).await, "42");
    assert_eq!(
        call(&old, "always", None).await,
        r#"-32602 "Unknown tool `always`; `tools/list` has those of this server""#
    );
    // A server that declares no tasks does not see that one was asked for.
    let plain = Session::of(Server::new("none", "1").tool("never", "", add)).await;
    assert_eq!(call(&plain, "never", task()).await, "42");
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_are_refused_before_there_is_a_task() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let params = json!({"name": "count", "arguments": {"to": "x"}, "task": {}});
    let reply = session.send("tools/call", params).await;
    assert!(reply.error().starts_with("200 -32602"), "{}", reply.error());
}

#[tokio::test(start_paused = true)]
async fn a_declared_extension_enables_nothing_in_a_session() {
    let mut fleet = Fleet::new();
    let none = Session::at(fleet.working(server()));
    let extension = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let session = none.open("2025-11-25", extension).await;
    assert_eq!(
        session
            .play("tools/call", json!({"name": "add"}), &[])
            .await,
        "42"
    );
    let update = json!({"taskId": "x", "inputResponses": {}});
    let reply = session.send("tasks/update", update).await;
    assert!(reply.error().contains("-32601"), "{}", reply.error());
}

#[tokio::test(start_paused = true)]
async fn a_task_is_shown_and_its_result_waited_for() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let mut created = session.task("add", json!({"ttl": 60_000})).await;
    let id = created["taskId"].take();
    let id = id.as_str().unwrap();
    expect![[r#"{"taskId":null,"status":"working","createdAt":"2026-07-28T09:30:00.000Z","lastUpdatedAt":"2026-07-28T09:30:00.000Z","ttl":60000,"pollInterval":1000,"statusMessage":"The task is being worked on"}"#]]
        .assert_eq(&created.to_string());
    let result = session.wait(id).await;
    expect![[r#"{"content":[{"type":"text","text":"42"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"…"}}}"#]]
        .assert_eq(&result["result"].to_string().replace(id, "…"));
    let shown = session.about("tasks/get", id).await.into_result();
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown.get("_meta"), None);
    // What is done is told again, as often as it is asked for.
    assert_eq!(session.wait(id).await, result);
}

#[tokio::test(start_paused = true)]
async fn a_client_may_ask_for_less_time_and_not_for_more() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let day = 24 * 60 * 60 * 1000;
    for (wanted, given) in [
        (json!({}), day),
        (json!({"ttl": 5000}), 5000),
        (json!({"ttl": u64::MAX}), day),
    ] {
        assert_eq!(session.task("add", wanted).await["ttl"], given);
    }
}

#[tokio::test(start_paused = true)]
async fn structured_content_that_is_no_object_is_left_out_of_a_tasks_result() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let task = session.begin("seven").await;
    let result = session.wait(&task).await["result"].take();
    assert_eq!(result.get("structuredContent"), None);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_fails_its_task_and_is_answered_as_ever() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let task = session.begin("fail").await;
    let end = session.wait(&task).await;
    assert_eq!(end["result"]["isError"], true);
    let shown = session.about("tasks/get", &task).await.into_result();
    assert_eq!(shown["status"], "failed");
    assert_eq!(shown["statusMessage"], "no luck");
    let task = session.begin("panics").await;
    let end = session.wait(&task).await;
    assert_eq!(
        end["error"],
        json!({"code": -32603, "message": "Internal error"})
    );
    let shown = session.about("tasks/get", &task).await.into_result();
    assert_eq!(shown["statusMessage"], "Internal error");
}

#[tokio::test(start_paused = true)]
async fn a_modern_client_reads_the_task_of_a_session_in_its_own_words() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let modern = fleet.front(server());
    let task = session.begin("fail").await;
    let shown = modern.ended(&task).await;
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["result"]["isError"], true);
    let task = modern.begin("fail", json!({})).await;
    modern.ended(&task).await;
    let shown = session.about("tasks/get", &task).await.into_result();
    assert_eq!(shown["status"], "failed");
}

#[tokio::test(start_paused = true)]
async fn what_a_task_asks_comes_on_the_stream_of_whoever_waits_for_it() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let task = session.begin("name").await;
    let mut stream = session.start("tasks/result", json!({"taskId": task})).await;
    let question = asked(&mut stream).await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Who are you?");
    assert_eq!(related(&question["params"]), task.as_str());
    let shown = session.about("tasks/get", &task).await.into_result();
    assert_eq!(shown["status"], "input_required");
    session
        .answer(&question, accept(json!({"name": "Ada"})))
        .await;
    let question = asked(&mut stream).await;
    assert_eq!(question["params"]["message"], "How old are you?");
    session.answer(&question, accept(json!({"age": 36}))).await;
    let end = last(&mut stream).await;
    assert_eq!(end["result"]["content"][0]["text"], "Ada is 36");
    assert_eq!(related(&end["result"]), task.as_str());
}

#[tokio::test(start_paused = true)]
async fn a_model_and_roots_are_asked_for_the_task_too() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    for (tool, method, answer, end) in [
        (
            "model",
            "sampling/createMessage",
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "…"}}),
            "by m",
        ),
        ("places", "roots/list", json!({"roots": []}), "0 roots"),
    ] {
        let task = session.begin(tool).await;
        let mut stream = session.start("tasks/result", json!({"taskId": task})).await;
        let question = asked(&mut stream).await;
        assert_eq!(question["method"], method);
        assert_eq!(related(&question["params"]), task.as_str());
        session.answer(&question, answer).await;
        let done = last(&mut stream).await;
        assert_eq!(done["result"]["content"][0]["text"], end);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_counts_on_another_instance_when_nobody_waits_any_more() {
    let mut fleet = Fleet::new();
    let here = session(&mut fleet).await;
    let there = here.on(&Session::at(fleet.built(server())));
    let task = here.begin("name").await;
    let mut stream = here.start("tasks/result", json!({"taskId": task})).await;
    let question = asked(&mut stream).await;
    drop(stream);
    there
        .answer(&question, accept(json!({"name": "Ada"})))
        .await;
    let mut stream = there.start("tasks/result", json!({"taskId": task})).await;
    let question = asked(&mut stream).await;
    assert_eq!(question["params"]["message"], "How old are you?");
    here.answer(&question, accept(json!({"age": 36}))).await;
    let end = last(&mut stream).await;
    assert_eq!(end["result"]["content"][0]["text"], "Ada is 36");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_refuses_a_question_lets_the_task_go_on() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    for tool in ["name", "model"] {
        let task = session.begin(tool).await;
        let mut stream = session.start("tasks/result", json!({"taskId": task})).await;
        let question = asked(&mut stream).await;
        let error = json!({"code": -32603, "message": "cannot"});
        let refusal = json!({"jsonrpc": "2.0", "id": question["id"], "error": error});
        assert_eq!(session.post(refusal).await.status(), 202);
        let end = last(&mut stream).await;
        assert_eq!(end["result"]["isError"], true, "{end}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_answer_is_asked_again_and_nonsense_is_ignored() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let task = session.begin("name").await;
    let mut stream = session.start("tasks/result", json!({"taskId": task})).await;
    let question = asked(&mut stream).await;
    let nonsense = json!({"jsonrpc": "2.0", "id": question["id"], "result": "!"});
    assert_eq!(session.post(nonsense).await.status(), 400);
    session
        .answer(&json!({"id": format!("{task}.other")}), json!({}))
        .await;
    session.answer(&question, accept(json!({"name": 7}))).await;
    let again = asked(&mut stream).await;
    assert_ne!(again["id"], question["id"]);
    let message = again["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("Who are you?") && message.len() > 12,
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_of_status_is_told_to_whoever_waits() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let task = session.begin("name").await;
    let mut stream = session.start("tasks/result", json!({"taskId": task})).await;
    let told = next(&mut stream).await;
    assert_eq!(told["method"], "notifications/tasks/status");
    assert_eq!(told["params"]["taskId"], task.as_str());
    assert_eq!(told["params"]["status"], "input_required");
    assert_eq!(told["params"].get("_meta"), None);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_has_ended_cannot_be_cancelled() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let task = session.begin("name").await;
    let shown = session.about("tasks/cancel", &task).await.into_result();
    assert_eq!(shown["status"], "cancelled");
    let again = session.about("tasks/cancel", &task).await;
    assert_eq!(again.error(), r#"200 -32602 "The task has ended""#);
    let end = session.wait(&task).await;
    assert_eq!(end["error"]["message"], "The task was cancelled");
}

#[tokio::test(start_paused = true)]
async fn waiting_can_be_taken_back_and_the_task_goes_on() {
    let mut fleet = Fleet::new();
    let session = session(&mut fleet).await;
    let task = session.begin("name").await;
    let mut stream = session.start("tasks/result", json!({"taskId": task})).await;
    asked(&mut stream).await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(session.post(cancelled).await.status(), 202);
    let shown = session.about("tasks/get", &task).await.into_result();
    assert_eq!(shown["status"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn a_list_has_the_callers_own_tasks_page_by_page() {
    let fleet = Fleet::new();
    let tokens = StaticTokens::parse("ada-token ada\neve-token eve").unwrap();
    let none = Session::at(fleet.built(server().gate(Gate::guarded(tokens))));
    let ada = none.with_token("ada-token").open("2025-11-25", all()).await;
    let eve = none.with_token("eve-token").open("2025-11-25", all()).await;
    for _ in 0..51 {
        ada.begin("add").await;
    }
    let task = eve.begin("add").await;
    let first = ada.send("tasks/list", json!({})).await.into_result();
    assert_eq!(first["tasks"].as_array().unwrap().len(), 50);
    let cursor = json!({"cursor": first["nextCursor"]});
    let second = ada.send("tasks/list", cursor.clone()).await.into_result();
    assert_eq!(second["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(second.get("nextCursor"), None);
    // A cursor is its caller's alone, and so is a task.
    for (who, cursor) in [(&eve, cursor), (&ada, json!({"cursor": "x"}))] {
        let reply = who.send("tasks/list", cursor).await;
        assert_eq!(
            reply.error(),
            r#"200 -32602 "Invalid params: `cursor` is none that this list gave out, or too old; begin again without one""#
        );
    }
    let list = eve.send("tasks/list", json!({})).await.into_result();
    assert_eq!(list["tasks"][0]["taskId"], task.as_str());
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let foreign = ada.about(method, &task).await.error();
        assert_eq!(foreign, r#"200 -32602 "Unknown task""#);
        assert_eq!(ada.about(method, "x").await.error(), foreign);
    }
}

#[tokio::test]
async fn callers_without_a_name_have_no_list() {
    let fleet = Fleet::new();
    let none = Session::at(fleet.built(server()));
    let session = none.open("2025-11-25", all()).await;
    let reply = session.send("tasks/list", json!({})).await;
    assert_eq!(
        reply.error(),
        r#"200 -32601 "Method not found: `tasks/list`; this server does not offer it""#
    );
}
