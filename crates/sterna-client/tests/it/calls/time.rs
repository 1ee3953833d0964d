//! Durations of calls and tasks, on a clock that moves only when every task
//! waits.

use std::time::Duration;

use serde_json::{Value, json};
use sterna_client::{Config, ErrorKind};
use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::content::TextContent;
use sterna_protocol::elicitation::{ElicitAction, ElicitResult};
use sterna_protocol::sampling::CreateMessageResult;
use tokio::time::Instant;

use super::lines::{connected_as, in_session};
use super::rounds::{asks, text};
use super::scripted::{done, name_form};
use super::tasks::task;

const SECOND: Duration = Duration::from_secs(1);

/// The time that has passed; the clock counts whole milliseconds and rounds
/// each wait up.
fn millis(since: Instant) -> u128 {
    (since.elapsed().as_millis() + 5) / 10 * 10
}

#[tokio::test(start_paused = true)]
async fn the_deadline_stands_still_while_a_person_is_asked() {
    let (client, mut far) = connected_as(|builder| {
        builder.on_form(|_| async {
            tokio::time::sleep(SECOND * 3600).await;
            Ok(ElicitResult::new(ElicitAction::Decline))
        })
    })
    .await;
    let call = client.call("t").deadline(SECOND * 10);
    let (ended, ()) = tokio::join!(call.into_future(), async {
        let request = far.read().await;
        tokio::time::sleep(SECOND * 6).await;
        let question = json!({"who": name_form("Who?")});
        far.result(&request, asks(question, Value::Null)).await;
        let retry = far.read().await;
        tokio::time::sleep(SECOND * 3).await;
        far.result(&retry, done("ok")).await;
    });
    assert_eq!(text(&ended.unwrap()), "ok");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_all_rounds_together() {
    let (client, mut far) = connected_as(|builder| builder.roots([])).await;
    let call = client.call("t").deadline(SECOND * 10);
    let (ended, ()) = tokio::join!(call.into_future(), async {
        let request = far.read().await;
        tokio::time::sleep(SECOND * 6).await;
        let question = json!({"where": {"method": "roots/list"}});
        far.result(&request, asks(question, Value::Null)).await;
        far.read().await;
        let since = Instant::now();
        assert_eq!(far.read().await["method"], "notifications/cancelled");
        assert_eq!(millis(since), 4000);
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Spent);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_session_is_kept_whatever_progress_there_is() {
    let (client, mut far) = in_session(json!({}), |builder| builder).await;
    let call = client
        .call("t")
        .timeout(SECOND * 3)
        .deadline(SECOND * 11)
        .on_progress(|_| {});
    let since = Instant::now();
    let (ended, ()) = tokio::join!(call.into_future(), async {
        let request = far.read().await;
        let token = &request["params"]["_meta"]["progressToken"];
        for sent in 0.. {
            let params = json!({"progressToken": token, "progress": sent});
            far.say(
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
            )
            .await;
            tokio::select! {
                said = far.read() => {
                    assert_eq!(said["method"], "notifications/cancelled");
                    return;
                }
                () = tokio::time::sleep(SECOND * 2) => {}
            }
        }
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Spent);
    assert_eq!(millis(since), 11_000);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_the_visits_that_a_session_requires_and_not_the_people_who_make_them() {
    let (client, mut far) = in_session(json!({}), |builder| {
        builder.on_url(|_| async {
            tokio::time::sleep(SECOND * 3600).await;
            Ok(ElicitResult::new(ElicitAction::Accept))
        })
    })
    .await;
    let call = client.call("t").deadline(SECOND * 10);
    let (ended, ()) = tokio::join!(call.into_future(), async {
        let request = far.read().await;
        tokio::time::sleep(SECOND * 6).await;
        let visit = json!({"mode": "url", "elicitationId": "e", "message": "Sign in",
            "url": "https://a.example/sign-in"});
        let error = json!({"code": -32042, "message": "Visit first",
            "data": {"elicitations": [visit]}});
        far.say(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
            .await;
        far.read().await;
        let since = Instant::now();
        assert_eq!(far.read().await["method"], "notifications/cancelled");
        assert_eq!(millis(since), 4000);
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Spent);
}

#[tokio::test(start_paused = true)]
async fn rounds_without_questions_are_paced_and_end_with_the_deadline() {
    let mut config = Config::default();
    config.max_rounds = u32::MAX;
    let (client, mut far) = connected_as(|builder| builder.config(config)).await;
    let since = Instant::now();
    let mut rounds = 0;
    let call = client.call("t").deadline(SECOND * 60);
    let ended = tokio::select! {
        ended = call.into_future() => ended,
        () = async {
            loop {
                let request = far.read().await;
                far.result(&request, asks(Value::Null, json!("s"))).await;
                rounds += 1;
            }
        } => unreachable!("it answers for ever"),
    };
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Spent);
    assert_eq!(millis(since), 60_000);
    // Six pauses of 0.1 to 3.2 seconds, then five each, or half of that by chance.
    assert!((17..=30).contains(&rounds), "{rounds} rounds");
}

#[tokio::test(start_paused = true)]
async fn rounds_without_questions_are_paced_as_the_settings_say() {
    let mut config = Config::default();
    config.first_pause = SECOND * 20;
    config.longest_pause = SECOND * 20;
    let (client, mut far) = connected_as(|builder| builder.config(config)).await;
    let since = Instant::now();
    let (ended, ()) = tokio::join!(client.call("t").into_future(), async {
        for state in ["1", "2"] {
            let request = far.read().await;
            far.result(&request, asks(Value::Null, json!(state))).await;
        }
        let request = far.read().await;
        assert_eq!(request["params"]["requestState"], "2");
        far.result(&request, done("ok")).await;
    });
    ended.unwrap();
    let took = millis(since);
    assert!(
        (20_000..=40_000).contains(&took),
        "two pauses, half chance: {took}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_model_is_asked_only_so_often_in_a_minute() {
    let mut config = Config::default();
    config.samples_per_minute = 2;
    let since = Instant::now();
    let (client, mut far) = connected_as(|builder| {
        builder.config(config).on_sample(|_| async {
            let text = TextContent::new("hello");
            Ok(CreateMessageResult::new("m", text))
        })
    })
    .await;
    let (ended, ()) = tokio::join!(client.call("t").into_future(), async {
        let request = far.read().await;
        let message = json!({"role": "user", "content": {"type": "text", "text": "hi"}});
        let question = json!({"method": "sampling/createMessage",
            "params": {"maxTokens": 5, "messages": [message]}});
        let questions = json!({"a": question, "b": question, "c": question, "d": question});
        far.result(&request, asks(questions, Value::Null)).await;
        let retry = far.read().await;
        let answers = retry["params"]["inputResponses"].as_object().unwrap();
        assert_eq!(answers.len(), 4);
        far.result(&retry, done("ok")).await;
    });
    ended.unwrap();
    assert_eq!(
        millis(since),
        60_000,
        "the third waits for half a minute, the fourth for one"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_is_polled_as_often_as_the_server_says_by_then() {
    let (client, mut far) = connected_as(|builder| builder.extension(&ExtensionId::TASKS)).await;
    let (ended, pauses) = tokio::join!(client.call("t").into_future(), async {
        let call = far.read().await;
        far.result(&call, task("working", json!({"resultType": "task"})))
            .await;
        let mut pauses = Vec::new();
        let mut last = Instant::now();
        for pace in [2000, 7000, 1, 86_400_000] {
            let mut poll = far.read().await;
            if poll["method"] == "subscriptions/listen" {
                let error = json!({"code": -32601, "message": "Method not found"});
                far.say(json!({"jsonrpc": "2.0", "id": poll["id"], "error": error}))
                    .await;
                poll = far.read().await;
            }
            assert_eq!(poll["method"], "tasks/get");
            pauses.push(millis(last));
            last = Instant::now();
            far.result(&poll, task("working", json!({"pollIntervalMs": pace})))
                .await;
        }
        let poll = far.read().await;
        pauses.push(millis(last));
        let result = json!({"content": [{"type": "text", "text": "done"}]});
        far.result(&poll, task("completed", json!({"result": result})))
            .await;
        pauses
    });
    assert_eq!(text(&ended.unwrap()), "done");
    // Neither faster nor slower than makes sense, with every interval of the server.
    assert_eq!(pauses, [0, 2000, 7000, 50, 60_000]);
}
