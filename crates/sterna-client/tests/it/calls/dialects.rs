//! Messages on the wire when tasks are followed.

use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{Step, TaskHandle};
use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use tokio::time::Instant;

use super::lines::{Far, connected_as, connected_to, in_session};
use super::rounds::{asks, text};
use super::scripted::{discovered, done, name_form};
use super::tasks::task;

/// A task in the words of 2025-11-25.
fn older(status: &str) -> Value {
    json!({"taskId": "t-1", "status": status, "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 60000, "pollInterval": 60000})
}

/// Capabilities of a server that can run calls as tasks of 2025-11-25.
fn able() -> Value {
    json!({"cancel": {}, "requests": {"tools": {"call": {}}}})
}

fn ada(builder: sterna_client::Builder) -> sterna_client::Builder {
    builder.on_form(|_| async {
        let content = ElicitContent::from_iter([("name", "Ada")]);
        Ok(ElicitResult::accept(content))
    })
}

/// The next request, which has to be this one.
async fn expected(far: &mut Far, method: &str) -> Value {
    let request = far.read().await;
    assert_eq!(request["method"], method, "{request}");
    request
}

fn bare(request: &Value) -> String {
    let mut params = request["params"].clone();
    let meta = params["_meta"].as_object_mut().unwrap();
    meta.retain(|key, _| key.ends_with("related-task"));
    if meta.is_empty() {
        params.as_object_mut().unwrap().shift_remove("_meta");
    }
    params.to_string()
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_server_tells_is_not_polled() {
    let (client, mut far) = connected_as(|builder| builder.extension(&ExtensionId::TASKS)).await;
    let (ended, ()) = tokio::join!(client.call("t").into_future(), async {
        let call = expected(&mut far, "tools/call").await;
        let created = task("working", json!({"resultType": "task"}));
        far.result(&call, created).await;
        let look = expected(&mut far, "tasks/get").await;
        far.result(&look, task("working", json!({}))).await;

        let listen = expected(&mut far, "subscriptions/listen").await;
        let wanted = &listen["params"]["notifications"];
        assert_eq!(*wanted, json!({"taskIds": ["t-1"]}));
        let told = |method: &str, mut params: Value| {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": listen["id"]});
            params["_meta"] = meta;
            json!({"jsonrpc": "2.0", "method": method, "params": params})
        };
        let agreed = json!({"notifications": wanted});
        let agreed = told("notifications/subscriptions/acknowledged", agreed);
        far.say(agreed).await;
        // Something may have happened before the client listened.
        let look = expected(&mut far, "tasks/get").await;
        far.result(&look, task("working", json!({}))).await;

        let silence = tokio::time::timeout(Duration::from_secs(50), far.read()).await;
        assert!(silence.is_err(), "nothing is asked: {silence:?}");
        let mut completed = task("completed", json!({"result": {"content": []}}));
        completed
            .as_object_mut()
            .unwrap()
            .shift_remove("resultType");
        far.say(told("notifications/tasks", completed)).await;
    });
    assert!(ended.unwrap().content.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_telling_is_polled_again() {
    let (client, mut far) = connected_as(|builder| builder.extension(&ExtensionId::TASKS)).await;
    let (ended, ()) = tokio::join!(client.call("t").into_future(), async {
        let call = expected(&mut far, "tools/call").await;
        let created = task("working", json!({"resultType": "task"}));
        far.result(&call, created).await;
        let look = expected(&mut far, "tasks/get").await;
        far.result(&look, task("working", json!({}))).await;
        let listen = expected(&mut far, "subscriptions/listen").await;
        let id = json!({"io.modelcontextprotocol/subscriptionId": listen["id"]});
        let params = json!({"_meta": id, "notifications": {"taskIds": ["t-1"]}});
        let method = "notifications/subscriptions/acknowledged";
        far.say(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
        let look = expected(&mut far, "tasks/get").await;
        far.result(&look, task("working", json!({"pollIntervalMs": 4000})))
            .await;
        let since = Instant::now();
        let end = json!({"resultType": "complete", "_meta": id});
        far.result(&listen, end).await;
        let look = expected(&mut far, "tasks/get").await;
        assert_eq!(since.elapsed().as_secs(), 4);
        let result = json!({"content": [{"type": "text", "text": "done"}]});
        far.result(&look, task("completed", json!({"result": result})))
            .await;
    });
    assert_eq!(text(&ended.unwrap()), "done");
}

#[tokio::test(start_paused = true)]
async fn in_a_session_a_task_asks_the_waiting_caller_and_its_news_are_heard() {
    let capabilities = json!({"tasks": able()});
    let (client, mut far) = in_session(capabilities, ada).await;
    let call = client.call("t").task(Duration::from_secs(60));
    let (ended, ()) = tokio::join!(call.into_future(), async {
        let call = expected(&mut far, "tools/call").await;
        expect![[r#"{"name":"t","task":{"ttl":60000}}"#]].assert_eq(&call["params"].to_string());
        far.result(&call, json!({"task": older("working")})).await;
        let look = expected(&mut far, "tasks/get").await;
        assert_eq!(look["params"], json!({"taskId": "t-1"}));
        far.result(&look, older("working")).await;

        // A minute is how long it would wait by itself.
        let since = Instant::now();
        far.say(
            json!({"jsonrpc": "2.0", "method": "notifications/tasks/status",
            "params": older("input_required")}),
        )
        .await;
        let look = expected(&mut far, "tasks/get").await;
        assert!(since.elapsed() < Duration::from_secs(1));
        far.result(&look, older("input_required")).await;

        let wait = expected(&mut far, "tasks/result").await;
        let mut question = name_form("Who?");
        let related = json!({"io.modelcontextprotocol/related-task": {"taskId": "t-1"}});
        question["params"]["_meta"] = related;
        question["jsonrpc"] = json!("2.0");
        question["id"] = json!("q-1");
        far.say(question).await;
        let answer = far.read().await;
        expect![[r#"{"jsonrpc":"2.0","id":"q-1","result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t-1"}},"action":"accept","content":{"colour":"red","name":"Ada"}}}"#]]
            .assert_eq(&answer.to_string());
        let content = json!({"content": [{"type": "text", "text": "hello"}]});
        far.result(&wait, content).await;
    });
    assert_eq!(text(&ended.unwrap()), "hello");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_long_in_coming_is_asked_for_again() {
    let capabilities = json!({"tasks": able()});
    let (client, mut far) = in_session(capabilities, ada).await;
    let handle = client.task("t-1");
    let (ended, ()) = tokio::join!(handle.follow(&client), async {
        for _ in 0..2 {
            let look = expected(&mut far, "tasks/get").await;
            far.result(&look, older("input_required")).await;
            expected(&mut far, "tasks/result").await;
            expected(&mut far, "notifications/cancelled").await;
        }
        let look = expected(&mut far, "tasks/get").await;
        far.result(&look, older("cancelled")).await;
    });
    expect!["the task was cancelled (MR0510)"].assert_eq(&ended.unwrap_err().to_string());
}

#[tokio::test]
async fn a_server_without_tasks_is_not_asked_for_one() {
    let (client, mut far) = in_session(json!({}), |builder| builder).await;
    let call = client.call("t").task(None);
    let (ended, ()) = tokio::join!(call.into_future(), async {
        let call = expected(&mut far, "tools/call").await;
        assert_eq!(call["params"], json!({"name": "t"}));
        far.result(&call, json!({"content": [{"type": "text", "text": "ok"}]}))
            .await;
    });
    assert_eq!(text(&ended.unwrap()), "ok");
}

/// A server that speaks of tasks as SEP-2322 does.
async fn proposal() -> (sterna_client::Client, Far) {
    let mut hello = discovered();
    hello["capabilities"]["tasks"] = able();
    connected_to(hello, |builder| ada(builder.extension(&ExtensionId::TASKS))).await
}

#[tokio::test(start_paused = true)]
async fn sep_2322_first_rounds_then_a_task_then_its_questions_as_results() {
    let (client, mut far) = proposal().await;
    let (ended, ()) = tokio::join!(client.call("t").task(None).into_future(), async {
        let first = expected(&mut far, "tools/call").await;
        expect![[r#"{"name":"t","task":{}}"#]].assert_eq(&bare(&first));
        let question = json!({"first": name_form("Who?")});
        far.result(&first, asks(question, json!("s"))).await;
        let second = expected(&mut far, "tools/call").await;
        expect![[r#"{"name":"t","inputResponses":{"first":{"action":"accept","content":{"colour":"red","name":"Ada"}}},"requestState":"s","task":{}}"#]]
            .assert_eq(&bare(&second));
        let created = json!({"resultType": "complete", "task": older("working")});
        far.result(&second, created).await;

        // Twice: what is shown still is not asked again.
        for round in 0..2 {
            let look = expected(&mut far, "tasks/get").await;
            let meta = &look["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(
                meta["extensions"],
                Value::Null,
                "a server that declares it speaks that"
            );
            far.result(&look, older("input_required")).await;
            let wait = expected(&mut far, "tasks/result").await;
            let question = json!({"again": name_form("Again?")});
            far.result(&wait, asks(question, Value::Null)).await;
            if round == 0 {
                let answer = expected(&mut far, "tasks/input_response").await;
                expect![[r#"{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t-1"}},"inputResponses":{"again":{"action":"accept","content":{"colour":"red","name":"Ada"}}}}"#]]
                    .assert_eq(&bare(&answer));
                far.result(&answer, json!({"resultType": "complete"})).await;
            }
        }
        let look = expected(&mut far, "tasks/get").await;
        far.result(&look, older("completed")).await;
        let wait = expected(&mut far, "tasks/result").await;
        far.result(&wait, done("hello")).await;
    });
    assert_eq!(text(&ended.unwrap()), "hello");
}

#[tokio::test]
async fn a_stored_handle_remembers_in_whose_words_its_task_is_spoken_of() {
    let (client, mut far) = proposal().await;
    let (step, ()) = tokio::join!(client.call("t").task(None).start(), async {
        let call = expected(&mut far, "tools/call").await;
        far.result(&call, json!({"task": older("working")})).await;
    });
    let Step::Task(handle) = step.unwrap() else {
        panic!("it became no task");
    };
    let stored = serde_json::to_string(&handle).unwrap();
    expect![[r#"{"server":"memory","taskId":"t-1","dialect":"proposal"}"#]].assert_eq(&stored);
    let handle: TaskHandle = serde_json::from_str(&stored).unwrap();
    let (seen, ()) = tokio::join!(handle.get(&client), async {
        let look = expected(&mut far, "tasks/get").await;
        far.result(&look, older("input_required")).await;
        let wait = expected(&mut far, "tasks/result").await;
        let question = json!({"again": name_form("Again?")});
        far.result(&wait, asks(question, Value::Null)).await;
    });
    expect!["InputRequired"].assert_eq(&format!("{:?}", seen.unwrap().task().status));
}
