//! Tasks of every dialect, at this workspace's own server.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use http::{HeaderMap, HeaderValue};
use sterna_client::{Builder, Client, Era, ErrorKind, Step, TaskHandle};
use sterna_protocol::capabilities::{ClientCapabilities, ElicitationCapability, ExtensionId};
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::tasks::TaskStatus;
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{AskError, Cx, Server, ServerConfig, TaskMode, Tool, ToolError};
use sterna_store::{MemoryLimits, MemoryStore, UnixMillis};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::rounds::text;

async fn add(_: Cx<'_>, (): ()) -> &'static str {
    "42"
}

async fn fail(_: Cx<'_>, (): ()) -> Result<(), ToolError> {
    Err(ToolError::new("no luck"))
}

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let first: String = cx.ask("first", "First name?").await?;
    let last: String = cx.ask("last", "Last name?").await?;
    Ok(format!("Hello, {first} {last}!"))
}

/// A server with workers, which live as long as the set.
pub(super) fn serve(running: &mut JoinSet<()>, prepare: impl FnOnce(Server) -> Server) -> String {
    let begun = Instant::now();
    let clock = move || {
        let millis = i64::try_from(begun.elapsed().as_millis()).unwrap();
        UnixMillis::new(1_785_231_000_000 + millis)
    };
    let mut config = ServerConfig::default();
    config.tasks.poll_interval = Duration::from_millis(50);
    let tokens = StaticTokens::parse("ada-token ada").unwrap();
    let server = Server::new("tasks", "1")
        .tool("never", "", add)
        .offer(Tool::new("always", "", add).task(TaskMode::Always))
        .offer(Tool::new("fail", "", fail).task(TaskMode::Optional))
        .offer(Tool::new("greet", "", greet).task(TaskMode::Optional))
        .gate(Gate::guarded(tokens))
        .config(config)
        .store(Arc::new(MemoryStore::with_clock(
            MemoryLimits::default(),
            clock,
        )));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = prepare(server).build().unwrap();
    running.spawn(async move {
        let forever = std::future::pending();
        server.serve_on(listener, forever).await.unwrap();
    });
    url
}

/// Ada, who answers every question with its own key.
pub(super) fn ada(url: &str) -> Builder {
    let mut headers = HeaderMap::new();
    let token = HeaderValue::from_static("Bearer ada-token");
    headers.insert("authorization", token);
    Client::builder(url).headers(headers).on_form(|question| {
        let fields = question.params.requested_schema.properties;
        let field = fields.iter().next().map(|(name, _)| name.to_owned());
        let message = question.params.message;
        let content = ElicitContent::from_iter([(field.unwrap(), message)]);
        async { Ok(ElicitResult::accept(content)) }
    })
}

async fn in_session(url: &str) -> Client {
    ada(url).era(Era::Legacy).connect().await.unwrap()
}

async fn begun(client: &Client, tool: &str) -> TaskHandle {
    let call = client.call(tool).task(Duration::from_secs(60));
    match call.start().await.unwrap() {
        Step::Task(handle) => handle,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_in_a_session_becomes_a_task_and_asks_through_the_same_handlers() {
    let mut running = JoinSet::new();
    let url = serve(&mut running, |server| server);
    let client = in_session(&url).await;
    let result = client.call("greet").task(None).await.unwrap();
    expect!["Hello, First name? Last name?!"].assert_eq(text(&result));
    let task = result.meta.unwrap().related_task.unwrap();
    let stood = client.task(&task.task_id).get(&client).await.unwrap();
    assert_eq!(stood.task().status, TaskStatus::Completed);
}

#[tokio::test]
async fn a_tool_that_fails_as_a_task_fails_just_as_it_would_have() {
    let mut running = JoinSet::new();
    let url = serve(&mut running, |server| server);
    let client = in_session(&url).await;
    let result = client.call("fail").task(None).await.unwrap();
    assert_eq!(result.is_error, Some(true));
    expect!["no luck"].assert_eq(text(&result));
}

#[tokio::test]
async fn a_tool_that_runs_as_a_task_only_is_called_as_one_if_tasks_are_allowed() {
    let mut running = JoinSet::new();
    let url = serve(&mut running, |server| server);
    let client = in_session(&url).await;
    let error = client.call("always").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);

    let client = ada(&url).extension(&ExtensionId::TASKS).era(Era::Legacy);
    let client = client.connect().await.unwrap();
    for _ in 0..2 {
        assert_eq!(text(&client.call("always").await.unwrap()), "42");
    }
    let tasks = client.tasks().all().await.unwrap();
    assert_eq!(tasks.len(), 2);
    assert_eq!(text(&client.call("never").await.unwrap()), "42");
}

#[tokio::test]
async fn a_stored_handle_is_followed_in_another_session() {
    let mut running = JoinSet::new();
    let url = serve(&mut running, |server| server);
    let stored = {
        let client = in_session(&url).await;
        let handle = begun(&client, "greet").await;
        serde_json::to_string(&handle).unwrap()
    };
    let handle: TaskHandle = serde_json::from_str(&stored).unwrap();
    let client = in_session(&url).await;
    let result = handle.follow(&client).await.unwrap();
    expect!["Hello, First name? Last name?!"].assert_eq(text(&result));
    let listed = client.tasks().all().await.unwrap();
    assert_eq!(listed[0].task_id, handle.task_id());
    assert_eq!(listed[0].ttl_ms, Some(60_000));
}

#[tokio::test]
async fn a_task_that_is_called_off_in_a_session_says_so() {
    let mut running = JoinSet::new();
    let url = serve(&mut running, |server| server);
    let client = in_session(&url).await;
    let handle = begun(&client, "greet").await;
    handle.cancel(&client).await.unwrap();
    let error = handle.follow(&client).await.unwrap_err();
    expect!["the task was cancelled (MR0510)"].assert_eq(&error.to_string());
    let error = handle.cancel(&client).await.unwrap_err();
    expect!["the server refused: The task has ended (MR0510)"].assert_eq(&error.to_string());
}

#[tokio::test]
async fn a_task_of_the_extension_is_followed_at_the_same_server() {
    let mut running = JoinSet::new();
    let url = serve(&mut running, |server| server);
    let client = ada(&url).connect().await.unwrap();
    let result = client.call("greet").task(None).await.unwrap();
    expect!["Hello, First name? Last name?!"].assert_eq(text(&result));
    let error = client.tasks().all().await.unwrap_err();
    expect!["only servers of 2025-11-25 list their tasks (MR0505)"].assert_eq(&error.to_string());
}

#[tokio::test]
async fn a_task_in_the_words_of_sep_2322_is_followed_at_the_same_server() {
    let mut running = JoinSet::new();
    let url = serve(&mut running, Server::sep2322_tasks);
    let client = ada(&url).connect().await.unwrap();
    // A server without the extension is spoken to as 2025-11-25 says.
    let mut declared = ClientCapabilities::default();
    declared.elicitation = Some(ElicitationCapability::form());
    let call = || {
        let call = client.call("greet").task(Duration::from_secs(60));
        call.capabilities(declared.clone())
    };
    expect!["Hello, First name? Last name?!"].assert_eq(text(&call().await.unwrap()));

    let Step::Task(handle) = call().start().await.unwrap() else {
        panic!("it became no task");
    };
    let stored = serde_json::to_string(&handle).unwrap();
    assert!(stored.contains("proposal"), "{stored}");
    let handle: TaskHandle = serde_json::from_str(&stored).unwrap();
    let client = ada(&url).connect().await.unwrap();
    let result = handle.follow(&client).await.unwrap();
    expect!["Hello, First name? Last name?!"].assert_eq(text(&result));
    let seen = handle.get(&client).await.unwrap();
    assert_eq!(seen.task().status, TaskStatus::Completed);
    assert_eq!(seen.task().ttl_ms, Some(60_000));
    handle.cancel(&client).await.unwrap_err();
}
