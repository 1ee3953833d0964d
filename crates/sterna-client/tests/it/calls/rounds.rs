//! The round-trip loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{Builder, Client, ErrorKind};
use sterna_protocol::content::ContentBlock;
use sterna_protocol::elicitation::{ElicitAction, ElicitContent, ElicitResult};
use sterna_protocol::roots::Root;
use sterna_protocol::sampling::CreateMessageResult;
use sterna_protocol::tool::CallToolResult;
use tokio::sync::Barrier;

use super::scripted::{Said, Scripted, Seen, done, name_form};

/// A client whose user is called Ada.
pub(super) fn ada(url: &str) -> Builder {
    Client::builder(url).on_form(|_| async {
        let content = ElicitContent::from_iter([("name", "Ada")]);
        Ok(ElicitResult::accept(content))
    })
}

pub(super) fn text(result: &CallToolResult) -> &str {
    match &result.content[..] {
        [ContentBlock::Text(content)] => &content.text,
        other => panic!("{other:?}"),
    }
}

pub(super) fn asks(questions: Value, state: Value) -> Value {
    let mut result = json!({"resultType": "input_required"});
    if !questions.is_null() {
        result["inputRequests"] = questions;
    }
    if !state.is_null() {
        result["requestState"] = state;
    }
    result
}

fn bare(seen: &[Seen]) -> String {
    seen.iter().map(|seen| seen.bare() + "\n").collect()
}

#[tokio::test]
async fn a_retry_repeats_the_request_and_brings_answers_and_state() {
    let server = Scripted::start(|_, count| match count {
        1 => asks(json!({"who": name_form("Who?")}), json!("s\u{2028}1\"\n")),
        2 => asks(json!({"again": name_form("Again?")}), Value::Null),
        3 => asks(Value::Null, json!("")),
        _ => done("hello"),
    })
    .await;
    let client = ada(&server.url).connect().await.unwrap();
    let call = client.call("greet").arg("z", 1).arg("a", [1.5]);
    let result = call.meta("com.example/trip", "t").await.unwrap();
    assert_eq!(text(&result), "hello");

    let seen = server.seen("tools/call");
    // MRTR-C2, C6, C7: the state only in the very next retry, and byte for byte.
    expect![[r#"
        {"name":"greet","arguments":{"z":1,"a":[1.5]}}
        {"name":"greet","arguments":{"z":1,"a":[1.5]},"inputResponses":{"who":{"action":"accept","content":{"colour":"red","name":"Ada"}}},"requestState":"s<LS>1\"\n"}
        {"name":"greet","arguments":{"z":1,"a":[1.5]},"inputResponses":{"again":{"action":"accept","content":{"colour":"red","name":"Ada"}}}}
        {"name":"greet","arguments":{"z":1,"a":[1.5]},"requestState":""}
    "#]]
    .assert_eq(&bare(&seen).replace('\u{2028}', "<LS>"));
    let metas: Vec<_> = seen.iter().map(|seen| &seen.params()["_meta"]).collect();
    assert!(metas.windows(2).all(|pair| pair[0] == pair[1]), "{metas:?}");
    let mut ids: Vec<_> = seen
        .iter()
        .map(|seen| seen.body["id"].to_string())
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 4, "a retry has a new id");
}

#[tokio::test]
async fn every_request_declares_what_the_handlers_can_do_and_nothing_else() {
    let server = Scripted::start(|_, _| done("ok")).await;
    let declared = async |builder: Builder| {
        let client = builder.connect().await.unwrap();
        client.call("t").await.unwrap();
        let seen = server.seen("tools/call");
        let meta = &seen.last().unwrap().params()["_meta"];
        meta["io.modelcontextprotocol/clientCapabilities"].to_string()
    };
    let plain = Client::builder(&server.url);
    assert_eq!(declared(plain).await, "{}");
    let form = ada(&server.url);
    assert_eq!(declared(form).await, r#"{"elicitation":{"form":{}}}"#);
    let all = ada(&server.url)
        .on_url(|_| async { Ok(ElicitResult::new(ElicitAction::Accept)) })
        .on_sample_with_tools(|_| async { Err("no model".into()) })
        .roots([Root::new("file:///srv")]);
    expect![[r#"{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{}}}"#]]
        .assert_eq(&declared(all).await);
}

#[tokio::test]
async fn all_questions_of_a_round_are_asked_at_once() {
    let sampling = json!({
        "method": "sampling/createMessage",
        "params": {"maxTokens": 5, "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]},
    });
    let questions = json!({
        "form": name_form("Who?"),
        "model": sampling,
        "roots": {"method": "roots/list"},
    });
    let server = Scripted::start(move |_, count| match count {
        1 => asks(questions.clone(), Value::Null),
        _ => done("ok"),
    })
    .await;
    // No handler passes the barrier before all three are asked.
    let barrier = Arc::new(Barrier::new(3));
    let [form, model, roots] = [barrier.clone(), barrier.clone(), barrier];
    let client = Client::builder(&server.url)
        .on_form(move |_| {
            let barrier = form.clone();
            async move {
                barrier.wait().await;
                Ok(ElicitResult::accept(ElicitContent::from_iter([(
                    "name", "Ada",
                )])))
            }
        })
        .on_sample(move |_| {
            let barrier = model.clone();
            async move {
                barrier.wait().await;
                let text = sterna_protocol::content::TextContent::new("hello");
                Ok(CreateMessageResult::new("m", text))
            }
        })
        .on_roots(move |_| {
            let barrier = roots.clone();
            async move {
                barrier.wait().await;
                Ok(vec![Root::new("file:///srv")])
            }
        })
        .connect()
        .await
        .unwrap();
    client.call("t").await.unwrap();
    expect![[r#"
        {"name":"t"}
        {"name":"t","inputResponses":{"form":{"action":"accept","content":{"colour":"red","name":"Ada"}},"model":{"role":"assistant","content":{"type":"text","text":"hello"},"model":"m"},"roots":{"roots":[{"uri":"file:///srv"}]}}}
    "#]]
    .assert_eq(&bare(&server.seen("tools/call")));
}

#[tokio::test]
async fn the_first_failure_drops_the_other_questions_and_nothing_is_sent() {
    struct OnDrop(Arc<AtomicUsize>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let questions = json!({"a": name_form("A?"), "b": {"method": "roots/list"}});
    let server = Scripted::start(move |_, _| asks(questions.clone(), Value::Null)).await;
    let dropped = Arc::new(AtomicUsize::new(0));
    let guard = dropped.clone();
    let client = Client::builder(&server.url)
        .on_form(move |_| {
            let guard = OnDrop(guard.clone());
            async move {
                let _guard = guard;
                std::future::pending().await
            }
        })
        .on_roots(|_| async { Err("the disk is gone".into()) })
        .connect()
        .await
        .unwrap();
    let error = client.call("t").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    assert_eq!(error.question(), Some("b"));
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    assert_eq!(server.seen("tools/call").len(), 1);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_not_sent() {
    let server = Scripted::start(|_, _| asks(json!({"who": name_form("Who?")}), Value::Null)).await;
    let client = Client::builder(&server.url)
        .on_form(|_| async {
            Ok(ElicitResult::accept(ElicitContent::from_iter([(
                "name", "",
            )])))
        })
        .connect()
        .await
        .unwrap();
    let error = client.call("t").await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    expect!["the answer to `who` does not fit the question (MR0509): `name` must have at least 1 characters"]
        .assert_eq(&format!("{error}: {cause}"));
    assert_eq!(server.seen("tools/call").len(), 1);
}

#[tokio::test]
async fn declined_and_cancelled_forms_are_answers() {
    let server = Scripted::start(|_, count| match count {
        1 => asks(
            json!({"a": name_form("A?"), "b": name_form("B?")}),
            Value::Null,
        ),
        _ => done("ok"),
    })
    .await;
    let client = Client::builder(&server.url)
        .on_form(|question| async move {
            let action = match question.key.as_str() {
                "a" => ElicitAction::Decline,
                _ => ElicitAction::Cancel,
            };
            Ok(ElicitResult::new(action))
        })
        .connect()
        .await
        .unwrap();
    client.call("t").await.unwrap();
    expect![[r#"
        {"name":"t"}
        {"name":"t","inputResponses":{"a":{"action":"decline"},"b":{"action":"cancel"}}}
    "#]]
    .assert_eq(&bare(&server.seen("tools/call")));
}

#[tokio::test]
async fn the_user_is_not_asked_for_an_answer_that_would_be_thrown_away() {
    let server = Scripted::start(|_, _| asks(json!({"who": name_form("Who?")}), json!("s"))).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let client = Client::builder(&server.url)
        .on_form(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok(ElicitResult::new(ElicitAction::Decline)) }
        })
        .connect()
        .await
        .unwrap();
    let error = client.call("t").max_rounds(3).await.unwrap_err();
    expect!["after 3 rounds the server still asks for more (MR0507)"].assert_eq(&error.to_string());
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert_eq!(server.seen("tools/call").len(), 4);
}

#[tokio::test]
async fn a_question_without_a_handler_fails_the_call_by_name() {
    let server = Scripted::start(|_, _| asks(json!({"who": name_form("Who?")}), Value::Null)).await;
    let client = Client::connect(&server.url).await.unwrap();
    let error = client.call("t").await.unwrap_err();
    expect!["the server asks `who` by elicitation/create, and this client has no handler for it (MR0508)"]
        .assert_eq(&error.to_string());
}

#[tokio::test]
async fn a_refused_state_says_to_start_over() {
    let server = Scripted::start(|_, count| match count {
        1 => Said::Result(asks(Value::Null, json!("s"))),
        _ => Said::Error(json!({
            "code": -32602,
            "message": "Invalid or expired requestState",
            "data": {"reason": "invalid_request_state"},
        })),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let error = client.call("t").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RequestState);
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once() {
    let server = Scripted::start(|_, _| asks(json!({"who": name_form("Who?")}), Value::Null)).await;
    let client = Client::builder(&server.url)
        .on_form(|_| std::future::pending())
        .connect()
        .await
        .unwrap();
    let call = client.call("t");
    let handle = call.handle();
    let (ended, ()) = tokio::join!(call.into_future(), async {
        while server.seen("tools/call").is_empty() {
            tokio::task::yield_now().await;
        }
        handle.cancel();
    });
    assert_eq!(ended.unwrap_err().code(), "MR0514");
}
