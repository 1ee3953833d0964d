//! Results that are used again.

use serde_json::{Value, json};
use sterna_client::Client;
use sterna_protocol::subscription::SubscriptionFilter;

use super::lines::{Far, connected};
use super::rounds::ada;
use super::scripted::{Scripted, name_form};

async fn list(client: &Client, far: &mut Far, ttl: u64) {
    let (listed, ()) = tokio::join!(client.prompts().all(), async {
        let request = far.read().await;
        assert_eq!(request["method"], "prompts/list");
        let page = json!({"resultType": "complete", "prompts": [{"name": "p"}],
            "ttlMs": ttl, "cacheScope": "private"});
        far.result(&request, page).await;
    });
    assert_eq!(listed.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_list_is_fetched_again_only_when_its_time_is_over() {
    let (client, mut far) = connected().await;
    list(&client, &mut far, 60_000).await;
    // Nobody answers: it comes from the cache.
    assert_eq!(client.prompts().all().await.unwrap().len(), 1);
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    list(&client, &mut far, 0).await;
    list(&client, &mut far, 0).await;
}

#[tokio::test]
async fn a_change_makes_what_it_concerns_stale_at_once() {
    let (client, mut far) = connected().await;
    list(&client, &mut far, 60_000).await;
    let mut filter = SubscriptionFilter::default();
    filter.prompts_list_changed = Some(true);
    let (changes, id) = tokio::join!(client.listen(filter), async {
        let request = far.read().await;
        let meta = json!({"io.modelcontextprotocol/subscriptionId": request["id"]});
        far.say(
            json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": meta, "notifications": {"promptsListChanged": true}}}),
        )
        .await;
        meta
    });
    let mut changes = changes.unwrap();
    far.say(
        json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed",
        "params": {"_meta": id}}),
    )
    .await;
    changes.next().await.unwrap();
    list(&client, &mut far, 60_000).await;
}

#[tokio::test]
async fn a_read_is_kept_by_its_address_unless_it_took_several_rounds() {
    let server = Scripted::start(|seen, _| {
        let uri = seen.params()["uri"].clone();
        if uri == "a://asks" && seen.params().get("inputResponses").is_none() {
            return json!({"resultType": "input_required", "inputRequests": {"pin": name_form("?")}});
        }
        json!({"resultType": "complete", "contents": [{"uri": uri, "text": "x"}],
            "ttlMs": 60_000, "cacheScope": "public"})
    })
    .await;
    let client = ada(&server.url).connect().await.unwrap();
    for uri in [
        "a://plain",
        "a://plain",
        "a://other",
        "a://asks",
        "a://asks",
    ] {
        let read = client.read(uri).await.unwrap();
        assert_eq!(read.contents.len(), 1, "{uri}");
    }
    let asked: Vec<Value> = server
        .seen("resources/read")
        .iter()
        .map(|seen| seen.params()["uri"].clone())
        .collect();
    assert_eq!(
        Value::from(asked).to_string(),
        r#"["a://plain","a://other","a://asks","a://asks","a://asks","a://asks"]"#
    );
}
