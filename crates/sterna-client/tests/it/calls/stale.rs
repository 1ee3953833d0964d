//! Cached values that must be asked for again.

use std::time::Duration;

use serde_json::{Value, json};
use sterna_client::{Client, Pages, Subscription};
use sterna_protocol::subscription::SubscriptionFilter;
use tokio::time::{advance, timeout};

use super::lines::{Far, connected};
use super::scripted::{Said, Scripted, discovered};
use crate::world::Reply;

/// Reads a list, and says whether the server was asked for it.
async fn fetched<T>(pages: Pages<T>, far: &mut Far, member: &str) -> bool {
    let answering = async {
        let hour = Duration::from_secs(3600);
        let request = timeout(hour, far.read()).await.ok()?;
        let page = json!({"resultType": "complete", member: [], "ttlMs": 60_000,
            "cacheScope": "private"});
        far.result(&request, page).await;
        Some(())
    };
    let (listed, answered) = tokio::join!(pages.all(), answering);
    assert!(listed.unwrap().is_empty());
    answered.is_some()
}

async fn list(client: &Client, far: &mut Far, member: &str) -> bool {
    match member {
        "prompts" => fetched(client.prompts(), far, member).await,
        "resources" => fetched(client.resources(), far, member).await,
        "resourceTemplates" => fetched(client.resource_templates(), far, member).await,
        _ => fetched(client.tools(), far, member).await,
    }
}

/// Listens to everything and hears that something has changed.
async fn hear(client: &Client, far: &mut Far, method: &str) -> Subscription {
    let mut filter = SubscriptionFilter::default();
    filter.prompts_list_changed = Some(true);
    filter.resources_list_changed = Some(true);
    filter.tools_list_changed = Some(true);
    let (changes, meta) = tokio::join!(client.listen(filter), async {
        let request = far.read().await;
        let meta = json!({"io.modelcontextprotocol/subscriptionId": request["id"]});
        let all = &request["params"]["notifications"];
        say(
            far,
            "subscriptions/acknowledged",
            json!({"_meta": meta, "notifications": all}),
        )
        .await;
        meta
    });
    say(far, method, json!({"_meta": meta})).await;
    let mut changes = changes.unwrap();
    changes.next().await.unwrap();
    changes
}

async fn say(far: &mut Far, method: &str, params: Value) {
    let method = format!("notifications/{method}");
    far.say(json!({"jsonrpc": "2.0", "method": method, "params": params}))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_time_is_over_is_asked_for_again() {
    let (client, mut far) = connected().await;
    assert!(list(&client, &mut far, "tools").await);
    advance(Duration::from_secs(61)).await;
    assert!(list(&client, &mut far, "tools").await);
    assert!(!list(&client, &mut far, "tools").await);
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_list_that_changed_is_asked_for_again() {
    for (member, method) in [
        ("prompts", "prompts/list_changed"),
        ("resources", "resources/list_changed"),
        ("resourceTemplates", "resources/list_changed"),
        ("tools", "tools/list_changed"),
    ] {
        let (client, mut far) = connected().await;
        assert!(list(&client, &mut far, member).await);
        let _listening = hear(&client, &mut far, method).await;
        assert!(list(&client, &mut far, member).await, "{member}");
    }
}

#[tokio::test]
async fn a_modern_stream_that_broke_off_is_not_asked_for_again() {
    let server = Scripted::raw(|seen, _| match seen.body["method"].as_str() {
        Some("server/discover") => Said::Result(discovered()),
        Some(_) => Said::Reply(
            Reply::status(200)
                .with("content-type", "text/event-stream")
                .body("id: here\nretry: 50\ndata: \n\n"),
        ),
        None => Said::Reply(Reply::status(405)),
    })
    .await;
    let client = Client::connect(&server.url).await.unwrap();
    client.call("t").await.unwrap_err();
    assert!(server.streams().is_empty());
}
