//! Secrets stay out of logs, errors and `Debug` of a client.

use std::error::Error as _;

use expect_test::expect;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use sterna_client::{Builder, Client, Era, Error};
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::sampling::CreateMessageResult;

use super::lines::in_session;
use super::rounds::asks;
use super::scripted::{Said, Scripted, done, name_form};
use crate::logged::Logged;
use crate::world::Reply;

/// Everything that a reader of this error could see.
fn whole(error: &Error) -> String {
    let mut text = format!("{error} {error:?}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(" {error} {error:?}");
        cause = error.source();
    }
    text
}

fn prompt(content: Value) -> Value {
    json!({"method": "sampling/createMessage", "params": {"maxTokens": 9,
        "messages": [{"role": "user", "content": content}]}})
}

/// A client that answers every question, forms with `name`.
fn talkative(builder: Builder, name: &'static str) -> Builder {
    let form = builder.on_form(move |_| async move {
        Ok(ElicitResult::accept(ElicitContent::from_iter([(
            "name", name,
        )])))
    });
    form.on_sample(|_| async {
        let text = json!({"role": "assistant", "model": "m",
            "content": {"type": "text", "text": "SECRET completion"}});
        let result: CreateMessageResult = serde_json::from_value(text).unwrap();
        Ok(result)
    })
}

#[tokio::test]
async fn no_prompt_completion_answer_argument_or_state_is_logged_or_in_an_error() {
    let (logged, _guard) = Logged::start();
    let text = json!({"type": "text", "text": "SECRET prompt"});
    let both = json!({"s": prompt(text), "f": name_form("SECRET message")});
    let refused = json!({"code": -32602, "message": "no",
        "data": {"reason": "invalid_request_state"}});
    // How each conversation goes on after a first round that asks and is answered.
    let cases = [
        ("done", "Ada", Said::Result(done("SECRET result"))),
        ("unfit", "", Said::Result(done("never sent"))),
        ("refused", "Ada", Said::Error(refused)),
        (
            "no prompt",
            "Ada",
            Said::Result(asks(
                json!({"s": prompt(json!("SECRET prompt"))}),
                json!("SECRET"),
            )),
        ),
        (
            "no state",
            "Ada",
            Said::Result(asks(Value::Null, json!(["SECRET state"]))),
        ),
        (
            "no result",
            "Ada",
            Said::Result(json!({"resultType": "complete", "content": "SECRET result"})),
        ),
        (
            "no content",
            "Ada",
            Said::Result(json!({"resultType": "complete"})),
        ),
        (
            "no JSON",
            "Ada",
            Said::Reply(Reply::status(200).body("SECRET")),
        ),
    ];
    let mut shown = String::new();
    for (case, name, then) in cases {
        let then = std::sync::Mutex::new(Some(then));
        let first = asks(both.clone(), json!("SECRET state"));
        let server = Scripted::start(move |_, count| match count {
            1 => Said::Result(first.clone()),
            _ => then.lock().unwrap().take().unwrap(),
        })
        .await;
        let client = talkative(Client::builder(&server.url), name);
        let client = client.connect().await.unwrap();
        let call = client.call("t").arg("a", "SECRET argument");
        match call.meta("com.example/m", "SECRET meta").await {
            Ok(_) => shown += &format!("{case}: done\n"),
            Err(error) => {
                assert!(!whole(&error).contains("SECRET"), "{}", whole(&error));
                let cause = error.source().map(|cause| {
                    // The position is not what this test is about.
                    let cause = cause.to_string();
                    format!(": {}", cause.split(" at line").next().unwrap_or_default())
                });
                shown += &format!("{case}: {error}{}\n", cause.unwrap_or_default());
            }
        }
    }
    expect![[r#"
        done: done
        unfit: the answer to `f` does not fit the question (MR0509): `name` must have at least 1 characters
        refused: the server refused its request state: no (MR0513)
        no prompt: the server's message cannot be read (MR0503): the result is malformed
        no state: the server's message cannot be read (MR0503): the result is malformed
        no result: the server's message cannot be read (MR0503): the result is malformed
        no content: the server's message cannot be read (MR0503): the result is malformed: missing field `content`
        no JSON: the server's message cannot be read (MR0503): not JSON
    "#]].assert_eq(&shown);
    assert!(!logged.lines("message=call ").is_empty());
    assert_eq!(logged.lines("SECRET"), [""; 0]);
}

#[tokio::test]
async fn what_a_session_asks_is_not_logged_either() {
    let (logged, _guard) = Logged::start();
    let (client, mut far) = in_session(json!({}), |builder| talkative(builder, "Ada")).await;
    let (ended, ()) = tokio::join!(client.call("t").into_future(), async {
        let call = far.read().await;
        for content in [json!({"type": "text", "text": "SECRET"}), json!("SECRET")] {
            let mut question = prompt(content);
            question["jsonrpc"] = json!("2.0");
            question["id"] = json!("q");
            far.say(question).await;
            assert_eq!(far.read().await["id"], "q");
        }
        far.result(&call, json!({"content": "SECRET"})).await;
    });
    let error = ended.unwrap_err();
    assert!(!whole(&error).contains("SECRET"), "{}", whole(&error));
    assert!(!logged.lines("message=call ").is_empty());
    assert_eq!(logged.lines("SECRET"), [""; 0]);
}

#[tokio::test]
async fn what_a_client_prints_of_itself_holds_no_credential() {
    let server = Scripted::raw(|seen, _| match seen.body["method"].as_str() {
        Some("initialize") => {
            let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "serverInfo": {"name": "old", "version": "1"}}});
            Said::Reply(Reply::json(200, &body).with("mcp-session-id", "SECRET-session"))
        }
        _ => Said::Reply(Reply::status(202)),
    })
    .await;
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", HeaderValue::from_static("SECRET-key"));
    let builder = Client::builder(&server.url)
        .era(Era::Legacy)
        .headers(headers);
    let before = format!("{builder:?}");
    let client = builder.connect().await.unwrap();
    let call = client.call("t").arg("a", "SECRET");
    let printed = format!("{before} {client:?} {call:?}");
    assert!(!printed.contains("SECRET"), "{printed}");
    let told = server.seen("notifications/initialized");
    assert_eq!(told[0].header("x-api-key"), Some("SECRET-key"));
    assert_eq!(told[0].header("mcp-session-id"), Some("SECRET-session"));
}
