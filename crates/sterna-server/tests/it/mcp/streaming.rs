use std::sync::Arc;

use http_body_util::BodyExt;
use serde_json::{Value, json};
use sterna_flow::{Level, Progress};
use sterna_server::{AskError, Cx, Server};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::Client;

async fn talks(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    cx.now("start").await;
    cx.progress(Progress::new(1.0).of(2.0).saying("half"));
    cx.progress(Progress::new(0.5));
    cx.log(Level::Debug, "a detail");
    cx.log(Level::Warning, "a warning");
    let name: String = cx.ask("name", "Name?").await?;
    cx.progress(Progress::new(2.0));
    Ok(name)
}

fn client() -> Client {
    Client::of(Server::new("streaming", "1").tool("talks", "Talks", talks))
}

fn kinds(messages: &[Value]) -> Vec<String> {
    let kind = |message: &Value| match message["method"].as_str() {
        Some(method) => format!("{method} {}", message["params"]),
        None => message["result"]["resultType"].as_str().unwrap().to_owned(),
    };
    messages.iter().map(kind).collect()
}

#[tokio::test]
async fn a_client_that_wants_to_hear_nothing_gets_plain_json() {
    let params = json!({"name": "talks", "arguments": {}});
    let reply = client().send("tools/call", params).await;
    assert_eq!(reply.headers["content-type"], "application/json");
    assert_eq!(kinds(&reply.messages), ["input_required"]);
}

#[tokio::test]
async fn progress_turns_the_answer_into_a_stream_that_ends_with_the_result() {
    let client = client().with_meta("progressToken", json!("p1"));
    let params = json!({"name": "talks", "arguments": {}});
    let reply = client.send("tools/call", params.clone()).await;
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    assert_eq!(reply.headers["x-accel-buffering"], "no");
    let half = r#"notifications/progress {"progressToken":"p1","progress":1.0,"total":2.0,"message":"half"}"#;
    assert_eq!(kinds(&reply.messages), [half, "input_required"]);
    // What was reported in the first round is not reported again in the second.
    let answers = json!({"name": super::accept(json!({"name": "Ada"}))});
    let before = reply.into_result();
    let reply = client.retry("tools/call", &params, &before, answers).await;
    let done = r#"notifications/progress {"progressToken":"p1","progress":2.0}"#;
    assert_eq!(kinds(&reply.messages), [done, "complete"]);
}

#[tokio::test]
async fn log_messages_come_at_the_level_that_was_asked_for() {
    let level = "io.modelcontextprotocol/logLevel";
    let client = client().with_meta(level, json!("info"));
    let reply = client.send("tools/call", json!({"name": "talks"})).await;
    let warning = r#"notifications/message {"level":"warning","data":"a warning"}"#;
    assert_eq!(kinds(&reply.messages), [warning, "input_required"]);
}

struct Noticed(UnboundedSender<()>);

impl Drop for Noticed {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
    }
}

async fn hangs(cx: Cx<'_>, (): ()) -> String {
    let _noticed = Noticed(cx.state::<Arc<UnboundedSender<()>>>().as_ref().clone());
    cx.progress(Progress::new(1.0));
    Notify::new().notified().await;
    unreachable!("nobody notifies")
}

#[tokio::test]
async fn closing_the_stream_stops_the_handler() {
    let (dropped, mut noticed) = unbounded_channel::<()>();
    let server = Server::new("streaming", "1")
        .state(Arc::new(dropped))
        .tool("hangs", "Hangs", hangs);
    let client = Client::of(server).with_meta("progressToken", json!(1));
    let mut response = client.open("tools/call", json!({"name": "hangs"})).await;
    let first = response.body_mut().frame().await.unwrap().unwrap();
    assert!(first.into_data().unwrap().starts_with(b"data: "));
    assert!(noticed.try_recv().is_err());
    drop(response);
    noticed.recv().await.unwrap();
}

async fn chatters(cx: Cx<'_>, (): ()) {
    for step in 1..=1000 {
        cx.progress(Progress::new(f64::from(step)).of(1000.0));
        cx.log(Level::Info, format_args!("{step}"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_reports_too_fast_is_left_out() {
    let server = Server::new("streaming", "1").tool("chatters", "Chatters", chatters);
    let client = Client::of(server);
    let params = json!({"name": "chatters", "arguments": {}});
    let watched = client.with_meta("progressToken", json!("p"));
    let reply = watched.send("tools/call", params.clone()).await;
    let steps = reply.messages.iter();
    let steps: Vec<_> = steps
        .filter_map(|message| message["params"]["progress"].as_f64())
        .collect();
    assert_eq!(steps.len(), 51);
    // The end of the way is always told.
    assert_eq!(steps[49..], [50.0, 1000.0]);
    let logged = client.with_meta("io.modelcontextprotocol/logLevel", json!("info"));
    let reply = logged.send("tools/call", params).await;
    let logs = reply.messages.iter();
    let logs = logs.filter(|message| message["method"] == "notifications/message");
    assert_eq!(logs.count(), 500);
}

async fn shouts(cx: Cx<'_>, (): ()) {
    cx.log(Level::Info, "ä".repeat(10_000));
}

#[tokio::test]
async fn a_long_log_message_is_cut_between_two_letters() {
    let server = Server::new("streaming", "1").tool("shouts", "Shouts", shouts);
    let client = Client::of(server);
    let client = client.with_meta("io.modelcontextprotocol/logLevel", json!("info"));
    let params = json!({"name": "shouts", "arguments": {}});
    let reply = client.send("tools/call", params).await;
    let said = reply.messages[0]["params"]["data"].as_str().unwrap();
    assert_eq!(said, format!("{}…", "ä".repeat(4096)));
}
