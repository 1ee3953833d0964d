//! Streams of changes.

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{Change, Client};
use sterna_protocol::subscription::SubscriptionFilter;

use super::lines::connected;
use super::scripted::Scripted;
use crate::world::Reply;

fn filter() -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    filter.prompts_list_changed = Some(true);
    filter
}

fn note(id: &Value, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

fn acknowledged(id: &Value) -> Value {
    note(
        id,
        "notifications/subscriptions/acknowledged",
        json!({"notifications": {"toolsListChanged": true}}),
    )
}

#[tokio::test]
async fn a_stream_says_what_it_will_tell_reopens_when_it_breaks_and_ends_on_purpose() {
    let server = Scripted::start(|seen, count| {
        let id = &seen.body["id"];
        let changed = note(id, "notifications/tools/list_changed", json!({}));
        let last = match count {
            1 => note(
                id,
                "notifications/resources/updated",
                json!({"uri": "a://b"}),
            ),
            _ => json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete",
                "_meta": {"io.modelcontextprotocol/subscriptionId": id}}}),
        };
        let events = [acknowledged(id), changed, last];
        let body: String = events
            .iter()
            .map(|event| format!("data: {event}\n\n"))
            .collect();
        Reply::status(200)
            .with("content-type", "text/event-stream")
            .body(body)
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    let mut changes = client.listen(filter()).await.unwrap();
    assert_eq!(changes.granted().tools_list_changed, Some(true));
    assert_eq!(changes.granted().prompts_list_changed, None);
    let mut heard = Vec::new();
    while let Some(change) = changes.next().await.unwrap() {
        heard.push(change);
    }
    expect![[r#"[Tools, Resource("a://b"), Reopened, Tools]"#]].assert_eq(&format!("{heard:?}"));
    assert_eq!(server.seen("subscriptions/listen").len(), 2);
}

#[tokio::test]
async fn on_one_channel_streams_are_told_apart_by_their_ids() {
    let (client, mut far) = connected().await;
    let (first, second, ids) =
        tokio::join!(client.listen(filter()), client.listen(filter()), async {
            let (a, b) = (far.read().await, far.read().await);
            for id in [&a["id"], &b["id"]] {
                far.say(acknowledged(id)).await;
            }
            (a["id"].clone(), b["id"].clone())
        });
    let (mut first, mut second) = (first.unwrap(), second.unwrap());
    far.say(note(
        &ids.1,
        "notifications/prompts/list_changed",
        json!({}),
    ))
    .await;
    far.say(note(&ids.0, "notifications/tools/list_changed", json!({})))
        .await;
    assert_eq!(first.next().await.unwrap(), Some(Change::Tools));
    assert_eq!(second.next().await.unwrap(), Some(Change::Prompts));

    drop(first);
    let cancelled = far.read().await;
    assert_eq!(cancelled["params"]["requestId"], ids.0);
}
