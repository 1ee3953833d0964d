//! Small duties of a client, each by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use expect_test::expect;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use sterna_client::{Client, ErrorKind};
use sterna_protocol::completion::{CompletionArgument, CompletionReference, PromptReference};
use sterna_protocol::elicitation::{ElicitAction, ElicitContent, ElicitResult};
use tokio::sync::Notify;

use super::lines::{connected, connected_as};
use super::rounds::{asks, text};
use super::scripted::{Said, Scripted, done, name_form};
use crate::world::{Reply, serve};

#[tokio::test]
async fn a_tool_that_reports_an_error_has_a_result_for_the_model() {
    let server = Scripted::start(|_, _| {
        json!({"resultType": "complete", "isError": true,
            "content": [{"type": "text", "text": "out of paper"}]})
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let result = client.call("print").await.unwrap();
    assert_eq!(result.is_error, Some(true));
    assert_eq!(text(&result), "out of paper");
}

#[tokio::test]
async fn answers_and_state_stay_with_their_own_call() {
    let (client, mut far) = connected_as(|builder| {
        builder.on_form(|question| async move {
            let content = ElicitContent::from_iter([("name", question.about.to_string())]);
            Ok(ElicitResult::accept(content))
        })
    })
    .await;
    let (a, b, retries) = tokio::join!(
        client.call("a").into_future(),
        client.call("b").into_future(),
        async {
            for request in [far.read().await, far.read().await] {
                let state = format!("of {}", request["params"]["name"]);
                let question = json!({"who": name_form("Who?")});
                far.result(&request, asks(question, state.into())).await;
            }
            let mut retries = Vec::new();
            for retry in [far.read().await, far.read().await] {
                far.result(&retry, done("ok")).await;
                let params = &retry["params"];
                let name = &params["inputResponses"]["who"]["content"]["name"];
                let (tool, state) = (&params["name"], &params["requestState"]);
                retries.push(format!("{tool}: {name}, {state}"));
            }
            retries.sort();
            retries
        }
    );
    a.unwrap();
    b.unwrap();
    expect![[r#"["a": "a", "of \"a\"", "b": "b", "of \"b\""]"#]]
        .assert_eq(&format!("[{}]", retries.join(", ")));
}

#[tokio::test]
async fn calls_in_flight_have_progress_tokens_of_their_own() {
    let (client, mut far) = connected().await;
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let call = |name: &'static str| {
        let heard = heard.clone();
        client.call(name).on_progress(move |at| {
            let said = format!("{name} {:?}", at.message);
            heard.lock().unwrap().push(said);
        })
    };
    let (a, b, ()) = tokio::join!(call("a").into_future(), call("b").into_future(), async {
        let requests = [far.read().await, far.read().await];
        let token = |request: &Value| request["params"]["_meta"]["progressToken"].clone();
        assert_ne!(token(&requests[0]), token(&requests[1]));
        for request in &requests {
            let params = json!({"progressToken": token(request), "progress": 1,
                    "message": request["params"]["name"]});
            let method = "notifications/progress";
            far.say(json!({"jsonrpc": "2.0", "method": method, "params": params}))
                .await;
            far.result(request, done("ok")).await;
        }
    });
    a.unwrap();
    b.unwrap();
    let mut heard = std::mem::take(&mut *heard.lock().unwrap());
    heard.sort();
    assert_eq!(heard, [r#"a Some("a")"#, r#"b Some("b")"#]);
}

#[tokio::test]
async fn a_model_is_lent_no_tools_that_are_undeclared() {
    let server = Scripted::start(|_, _| {
        let message = json!({"role": "user", "content": {"type": "text", "text": "hi"}});
        let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
        let question = json!({"method": "sampling/createMessage",
            "params": {"maxTokens": 5, "messages": [message], "tools": [tool]}});
        asks(json!({"model": question}), Value::Null)
    })
    .await;
    let client = Client::builder(&server.url)
        .on_sample(|_| async { panic!("tools were not declared") })
        .connect()
        .await
        .unwrap();
    let error = client.call("t").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    assert_eq!(error.question(), Some("model"));
    assert_eq!(server.seen("tools/call").len(), 1);
}

#[tokio::test]
async fn a_url_is_shown_with_who_asks_and_never_visited() {
    let visits = Arc::new(AtomicUsize::new(0));
    let count = visits.clone();
    let page = serve(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Reply::status(200))
    })
    .await;
    let url = format!("{page}/sign-in");
    let server = {
        let url = url.clone();
        Scripted::start(move |_, count| match count {
            1 => {
                let question = json!({"method": "elicitation/create", "params": {
                    "mode": "url", "message": "Sign in", "url": url}});
                asks(json!({"visit": question}), Value::Null)
            }
            _ => done("ok"),
        })
        .await
    };
    let place = server.url.clone();
    let client = Client::builder(&server.url)
        .on_url(move |question| {
            assert_eq!(*question.server, *place);
            assert_eq!(&*question.about, "t");
            assert_eq!(question.key, "visit");
            assert_eq!(question.params.message, "Sign in");
            assert_eq!(question.params.url.as_str(), url);
            async { Ok(ElicitResult::new(ElicitAction::Accept)) }
        })
        .connect()
        .await
        .unwrap();
    client.call("t").await.unwrap();
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_call_over_http_is_cancelled_by_closing_its_stream() {
    struct OnDrop(Arc<Notify>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let closed = Arc::new(Notify::new());
    let notify = closed.clone();
    let server = Scripted::start(move |seen, _| {
        let token = &seen.params()["_meta"]["progressToken"];
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 1}});
        let first = Bytes::from(format!("data: {progress}\n\n"));
        let guard = OnDrop(notify.clone());
        let silence = stream::once(async move {
            let _guard = guard;
            std::future::pending().await
        });
        let first = stream::iter([Ok::<_, std::io::Error>(first)]);
        let reply = Reply::status(200).with("content-type", "text/event-stream");
        Said::Reply(reply.body(Body::from_stream(first.chain(silence))))
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let begun = Arc::new(Notify::new());
    let notify = begun.clone();
    let call = client.call("t").on_progress(move |_| notify.notify_one());
    let handle = call.handle();
    let (ended, ()) = tokio::join!(call.into_future(), async {
        begun.notified().await;
        handle.cancel();
    });
    assert_eq!(ended.unwrap_err().code(), "MR0514");
    closed.notified().await;
    assert!(server.seen("notifications/cancelled").is_empty());
}

#[tokio::test]
async fn completions_may_be_few_or_none() {
    let server = Scripted::start(|_, count| match count {
        1 => json!({"resultType": "complete", "completion": {"values": []}}),
        _ => json!({"resultType": "complete",
            "completion": {"values": ["rust"], "total": 40, "hasMore": true}}),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let complete = || {
        let prompt = CompletionReference::Prompt(PromptReference::new("review"));
        client.complete(prompt, CompletionArgument::new("language", "ru"), None)
    };
    assert!(complete().await.unwrap().values.is_empty());
    let partial = complete().await.unwrap();
    assert_eq!(partial.values, ["rust"]);
    assert_eq!((partial.total, partial.has_more), (Some(40), Some(true)));
}

#[tokio::test]
async fn annotations_of_a_tool_are_handed_on_and_change_nothing() {
    let server = Scripted::start(|seen, _| match seen.body["method"].as_str() {
        Some("tools/list") => json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "tools": [{"name": "wipe", "inputSchema": {"type": "object"},
                "annotations": {"destructiveHint": true, "readOnlyHint": true}}]}),
        _ => done("ok"),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let tools = client.tools().all().await.unwrap();
    let hints = tools[0].annotations.as_ref().unwrap();
    assert_eq!(hints.destructive_hint, Some(true));
    client.call("wipe").await.unwrap();
    assert_eq!(server.seen("tools/call").len(), 1);
}
