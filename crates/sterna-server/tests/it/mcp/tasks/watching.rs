use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Response;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::http::ResponseBody;
use sterna_server::{Cx, Server, TaskMode, Tool, ToolError};

use super::super::accept;
use super::Fleet;
use super::counted::Counted;

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    cx.progress(sterna_flow::Progress::new(1.0).saying("looking around"));
    Ok(cx.ask::<String>("name", "Who?").await?)
}

fn server() -> Server {
    Server::new("watching", "1").offer(Tool::new("greet", "", greet).task(TaskMode::Always))
}

async fn next(response: &mut Response<ResponseBody>) -> Value {
    let frame = response.body_mut().frame().await.unwrap().unwrap();
    let data = frame.into_data().unwrap();
    let text = std::str::from_utf8(&data).unwrap();
    serde_json::from_str(text.strip_prefix("data: ").unwrap()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_listener_hears_what_tasks_get_would_have_said() {
    let mut fleet = Fleet::new();
    // The listener is on an instance that does none of the work.
    let listener = fleet.front(server());
    let client = fleet.instance(server());
    let task = client.begin("greet", json!({})).await;
    let filter = json!({"notifications": {"taskIds": [task, "no such task"]}});
    let mut stream = listener.open("subscriptions/listen", filter).await;
    let acknowledged = next(&mut stream).await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"taskIds": [task]})
    );
    let mut told = next(&mut stream).await;
    if told["params"]["status"] == "working" {
        told = next(&mut stream).await;
    }
    assert_eq!(told["method"], "notifications/tasks");
    assert_eq!(told["params"]["statusMessage"], "looking around");
    assert_eq!(
        without_meta(&told["params"]),
        without_meta(&client.look(&task).await)
    );
    let answer = json!({"name": accept(json!({"name": "Ada"}))});
    client.update(&task, answer).await;
    let mut told = next(&mut stream).await;
    while told["params"]["status"] != "completed" {
        told = next(&mut stream).await;
    }
    assert_eq!(
        without_meta(&told["params"]),
        without_meta(&client.look(&task).await)
    );
    let subscription = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(subscription, 1);
}

#[tokio::test(start_paused = true)]
async fn nobody_listens_to_a_foreign_task() {
    let fleet = Fleet::new();
    let tokens = StaticTokens::parse("token-of-ada ada\ntoken-of-bob bob").unwrap();
    let client = fleet.front(server().gate(Gate::guarded(tokens)));
    let ada = client.with_token("token-of-ada");
    let bob = client.with_token("token-of-bob");
    let task = ada.begin("greet", json!({})).await;
    let filter = json!({"notifications": {"taskIds": [task]}});
    let mut stream = bob.open("subscriptions/listen", filter).await;
    let acknowledged = next(&mut stream).await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"taskIds": []})
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_does_not_change_is_not_read_whole_again_and_again() {
    let mut fleet = Fleet::new();
    let reads = Arc::new(AtomicUsize::new(0));
    fleet.store = Arc::new(Counted {
        store: Arc::clone(&fleet.store),
        reads: Arc::clone(&reads),
    });
    let client = fleet.instance(server());
    let task = client.begin("greet", json!({})).await;
    client.until(&task, &["input_required"]).await;
    let filter = json!({"notifications": {"taskIds": [task]}});
    let mut stream = client.open("subscriptions/listen", filter).await;
    next(&mut stream).await;
    assert_eq!(
        next(&mut stream).await["params"]["status"],
        "input_required"
    );
    reads.store(0, Ordering::SeqCst);
    // A hundred looks, with comments in between to keep the stream alive.
    let silence = async {
        loop {
            let frame = stream.body_mut().frame().await.unwrap().unwrap();
            assert_eq!(frame.into_data().unwrap(), ":\n\n");
        }
    };
    let looking = tokio::time::timeout(Duration::from_secs(500), silence).await;
    assert!(looking.is_err());
    let reads = reads.load(Ordering::SeqCst);
    assert!(reads <= 2, "{reads} times");
    client
        .update(&task, json!({"name": accept(json!({"name": "Ada"}))}))
        .await;
    let mut told = next(&mut stream).await;
    while told["params"]["status"] != "completed" {
        told = next(&mut stream).await;
    }
}

fn without_meta(task: &Value) -> Value {
    let mut task = task.clone();
    let members = task.as_object_mut().unwrap();
    members.remove("_meta");
    members.remove("resultType");
    task
}
