//! Requests that a client does not send, and responses that it refuses.

use serde_json::{Value, json};
use sterna_client::{Client, ErrorKind};
use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::roots::Root;

use super::rounds::asks;
use super::scripted::{Scripted, done};
use super::tasks::task;

#[tokio::test]
async fn a_root_that_climbs_is_not_sent() {
    let server = Scripted::start(|_, count| match count {
        1 => asks(json!({"roots": {"method": "roots/list"}}), Value::Null),
        _ => done("sent"),
    })
    .await;
    let roots = [
        Root::new("file:///srv"),
        Root::new("file:///srv/%2e%2e/etc"),
    ];
    let builder = Client::builder(&server.url).roots(roots);
    let client = builder.connect().await.unwrap();
    client.call("t").await.unwrap_err();
    assert_eq!(server.seen("tools/call").len(), 1);
}

#[tokio::test]
async fn a_task_stands_for_a_tool_call_only() {
    let server = Scripted::start(|_, _| task("working", json!({"resultType": "task"}))).await;
    let builder = Client::builder(&server.url).extension(&ExtensionId::TASKS);
    let client = builder.connect().await.unwrap();
    let error = client.read("note://1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Peer, "{error}");
    assert!(server.seen("tasks/get").is_empty());
}

#[tokio::test]
async fn news_of_another_task_are_not_believed() {
    let server = Scripted::start(|seen, _| match seen.body["method"].as_str().unwrap() {
        "tools/call" => task("working", json!({"resultType": "task"})),
        _ => {
            let result = json!({"content": [{"type": "text", "text": "of another"}]});
            task("completed", json!({"taskId": "t-2", "result": result}))
        }
    })
    .await;
    let builder = Client::builder(&server.url).extension(&ExtensionId::TASKS);
    let client = builder.connect().await.unwrap();
    let error = client.call("t").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Peer, "{error}");
}
