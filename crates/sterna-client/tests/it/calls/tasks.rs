//! Calls that go on as tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{Client, ErrorKind, Step, TaskHandle};
use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};

use super::rounds::{ada, text};
use super::scripted::{Scripted, name_form};

pub(super) fn task(status: &str, more: Value) -> Value {
    let mut task = json!({"resultType": "complete", "taskId": "t-1", "status": status,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        "ttlMs": null, "pollIntervalMs": 1});
    for (name, value) in more.as_object().unwrap() {
        task[name] = value.clone();
    }
    task
}

/// A server whose task asks one thing, shows it for three polls, and is done.
async fn server() -> Scripted {
    let updates = AtomicUsize::new(0);
    Scripted::start(
        move |seen, count| match seen.body["method"].as_str().unwrap() {
            "tools/call" => task("working", json!({"resultType": "task"})),
            "tasks/update" => {
                updates.fetch_add(1, Ordering::SeqCst);
                json!({"resultType": "complete"})
            }
            "tasks/cancel" => json!({"resultType": "complete"}),
            _ if count == 1 => task("working", json!({})),
            _ if count < 5 => task(
                "input_required",
                json!({"inputRequests": {"who": name_form("Who?")}}),
            ),
            _ => task(
                "completed",
                json!({"result": {"content": [{"type": "text", "text": "done"}]}}),
            ),
        },
    )
    .await
}

#[tokio::test]
async fn a_task_is_followed_to_its_end_and_asks_once() {
    let server = server().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let client = Client::builder(&server.url)
        .extension(&ExtensionId::TASKS)
        .on_form(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            let content = ElicitContent::from_iter([("name", "Ada")]);
            async { Ok(ElicitResult::accept(content)) }
        })
        .connect()
        .await
        .unwrap();
    let result = client.call("t").await.unwrap();
    assert_eq!(text(&result), "done");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let updates = server.seen("tasks/update");
    assert_eq!(updates.len(), 1);
    expect![[r#"{"taskId":"t-1","inputResponses":{"who":{"action":"accept","content":{"colour":"red","name":"Ada"}}}}"#]]
        .assert_eq(&updates[0].bare());
    let polls = server.seen("tasks/get");
    assert_eq!(polls[0].header("mcp-name"), Some("t-1"));
    assert_eq!(updates[0].header("mcp-name"), Some("t-1"));
}

#[tokio::test]
async fn a_stored_handle_follows_the_task_after_a_restart() {
    let server = server().await;
    let tasks = |url: &str| ada(url).extension(&ExtensionId::TASKS);
    let stored = {
        let client = tasks(&server.url).connect().await.unwrap();
        match client.call("t").start().await.unwrap() {
            Step::Task(handle) => serde_json::to_string(&handle).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let handle: TaskHandle = serde_json::from_str(&stored).unwrap();
    let client = tasks(&server.url).connect().await.unwrap();
    handle.cancel(&client).await.unwrap();
    assert_eq!(server.seen("tasks/cancel").len(), 1);
    let result = handle.follow(&client).await.unwrap();
    assert_eq!(text(&result), "done");
}

#[tokio::test]
async fn a_failed_task_is_the_servers_error_and_a_cancelled_one_says_so() {
    for (state, shown) in [
        (
            task(
                "failed",
                json!({"error": {"code": 5, "message": "out of paper"}}),
            ),
            "the server refused: out of paper (MR0510)",
        ),
        (
            task("cancelled", json!({})),
            "the task was cancelled (MR0510)",
        ),
    ] {
        let server = Scripted::start(move |seen, _| match seen.body["method"].as_str().unwrap() {
            "tools/call" => task("working", json!({"resultType": "task"})),
            _ => state.clone(),
        })
        .await;
        let client = Client::builder(&server.url)
            .extension(&ExtensionId::TASKS)
            .connect()
            .await
            .unwrap();
        let error = client.call("t").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert_eq!(error.to_string(), shown);
    }
}
