//! Unsolicited notifications of a session of an earlier revision.

use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use expect_test::expect;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use sterna_client::{Change, Client, Era};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::subscription::SubscriptionFilter;

use super::lines::{Far, in_session};
use super::rounds::text;
use super::scripted::{Said, Scripted, Seen};
use crate::world::Reply;

fn note(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn tools() -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    filter
}

#[tokio::test]
async fn a_session_is_listened_to_for_what_the_server_can_tell() {
    let able = json!({"tools": {"listChanged": true}, "prompts": {},
        "resources": {"subscribe": true}});
    let (client, mut far) = in_session(able, |builder| builder).await;
    let mut filter = tools();
    filter.prompts_list_changed = Some(true);
    filter.resource_subscriptions = Some(vec!["a://b".to_owned()]);
    let (changes, ()) = tokio::join!(client.listen(filter), async {
        let subscribe = far.read().await;
        assert_eq!(subscribe["method"], "resources/subscribe");
        assert_eq!(subscribe["params"], json!({"uri": "a://b"}));
        far.result(&subscribe, json!({})).await;
    });
    let mut changes = changes.unwrap();
    assert_eq!(changes.granted().tools_list_changed, Some(true));
    assert_eq!(changes.granted().prompts_list_changed, None);
    for (method, params) in [
        ("notifications/prompts/list_changed", json!({})),
        ("notifications/resources/updated", json!({"uri": "z://z"})),
        ("notifications/resources/updated", json!({"uri": "a://b/c"})),
        ("notifications/tools/list_changed", json!({})),
    ] {
        far.say(note(method, params)).await;
    }
    let heard = [changes.next().await, changes.next().await];
    expect![[r#"[Some(Resource("a://b/c")), Some(Tools)]"#]]
        .assert_eq(&format!("{:?}", heard.map(Result::unwrap)));

    drop(changes);
    let farewell = far.read().await;
    assert_eq!(farewell["method"], "resources/unsubscribe");
    assert_eq!(farewell["params"], json!({"uri": "a://b"}));
}

#[tokio::test]
async fn a_change_is_heard_even_while_a_call_is_under_way() {
    let able = json!({"tools": {"listChanged": true}});
    let (client, mut far) = in_session(able, |builder| builder).await;
    let mut changes = client.listen(tools()).await.unwrap();
    let (ended, ()) = tokio::join!(client.call("t").into_future(), async {
        let call = far.read().await;
        far.say(note("notifications/tools/list_changed", json!({})))
            .await;
        far.result(&call, said("ok")).await;
    });
    ended.unwrap();
    assert_eq!(changes.next().await.unwrap(), Some(Change::Tools));
}

/// A legacy server on HTTP whose own stream is `stream`; the number of times it
/// was opened goes in.
async fn server(stream: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Scripted {
    Scripted::raw(
        move |seen: &Seen, count| match seen.body["method"].as_str() {
            Some("initialize") => Said::Result(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "old", "version": "1"},
            })),
            Some(_) => Said::Reply(Reply::status(202)),
            None => Said::Reply(stream(count)),
        },
    )
    .await
}

#[tokio::test]
async fn over_http_the_servers_own_stream_is_opened_again_when_it_breaks() {
    let server = server(|count| {
        let changed = note("notifications/tools/list_changed", json!({}));
        let event = Bytes::from(format!("data: {changed}\n\n"));
        let first = stream::iter([Ok::<_, std::io::Error>(event)]);
        let body = match count {
            1 => Body::from_stream(first),
            _ => Body::from_stream(first.chain(stream::pending())),
        };
        let reply = Reply::status(200).with("content-type", "text/event-stream");
        reply.body(body)
    })
    .await;
    let client = Client::builder(&server.url).era(Era::Legacy);
    let client = client.connect().await.unwrap();
    assert!(server.streams().is_empty(), "no listener yet");
    let mut changes = client.listen(tools()).await.unwrap();
    let mut heard = Vec::new();
    for _ in 0..3 {
        heard.push(changes.next().await.unwrap().unwrap());
    }
    assert_eq!(heard, [Change::Tools, Change::Reopened, Change::Tools]);
    assert_eq!(server.streams().len(), 2);
}

#[tokio::test]
async fn a_server_without_a_stream_of_its_own_cannot_be_listened_to() {
    let server = server(|_| Reply::status(405)).await;
    let client = Client::builder(&server.url).era(Era::Legacy);
    let client = client.connect().await.unwrap();
    let error = client.listen(tools()).await.unwrap_err();
    expect!["a session of a revision before 2026-07-28 without a stream of its own does not support this request (MR0505)"]
        .assert_eq(&error.to_string());
}

/// Makes a call that wants to hear from `level` up; what the server was asked
/// besides, and what was heard.
async fn logged(client: &Client, far: &mut Far, level: LoggingLevel) -> (Vec<String>, Vec<String>) {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = heard.clone();
    let call = client.call("t").on_log(level, move |said| {
        sink.lock().unwrap().push(said.data.as_str().to_owned());
    });
    let (ended, asked) = tokio::join!(call.into_future(), async {
        let mut asked = Vec::new();
        loop {
            let request = far.read().await;
            if request["method"] == "logging/setLevel" {
                asked.push(request["params"]["level"].to_string());
                far.result(&request, json!({})).await;
                continue;
            }
            for level in ["debug", "info", "error"] {
                let params = json!({"level": level, "data": level});
                far.say(note("notifications/message", params)).await;
            }
            far.result(&request, said("ok")).await;
            return asked;
        }
    });
    assert_eq!(text(&ended.unwrap()), "ok");
    let heard = heard.lock().unwrap().clone();
    (asked, heard)
}

#[tokio::test]
async fn a_session_is_asked_for_log_messages_once_and_each_call_hears_its_own_level() {
    let (client, mut far) = in_session(json!({"logging": {}}), |builder| builder).await;
    let mut shown = String::new();
    for level in [
        LoggingLevel::Info,
        LoggingLevel::Error,
        LoggingLevel::Info,
        LoggingLevel::Debug,
    ] {
        let (asked, heard) = logged(&client, &mut far, level.clone()).await;
        shown += &format!("{level:?}: asked {asked:?}, heard {heard:?}\n");
    }
    expect![[r#"
        Info: asked ["\"info\""], heard ["\"info\"", "\"error\""]
        Error: asked [], heard ["\"error\""]
        Info: asked [], heard ["\"info\"", "\"error\""]
        Debug: asked ["\"debug\""], heard ["\"debug\"", "\"info\"", "\"error\""]
    "#]]
    .assert_eq(&shown);

    let (client, mut far) = in_session(json!({}), |builder| builder).await;
    let (asked, _) = logged(&client, &mut far, LoggingLevel::Info).await;
    assert!(asked.is_empty(), "a server without logging is not asked");
}
