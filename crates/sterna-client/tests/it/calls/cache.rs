//! Results that are used again.

use serde_json::{Value, json};
use sterna_client::Client;
use sterna_protocol::subscription::SubscriptionFilter;

use super::lines::{Far, connected};
use super::rounds::ada;
use super::scripted::{Scripted, name_form};

fn page(name: &str, next: Option<&str>, ttl: u64) -> Value {
    let mut page = json!({"resultType": "complete", "prompts": [{"name": name}],
        "ttlMs": ttl, "cacheScope": "private"});
    if let Some(next) = next {
        page["nextCursor"] = next.into();
    }
    page
}

async fn list(client: &Client, far: &mut Far, ttl: u64) {
    let (listed, ()) = tokio::join!(client.prompts().all(), async {
        let request = far.read().await;
        assert_eq!(request["method"], "prompts/list");
        far.result(&request, page("p", None, ttl)).await;
    });
    assert_eq!(listed.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_list_is_fetched_again_only_when_its_time_is_over() {
    let (client, mut far) = connected().await;
    list(&client, &mut far, 60_000).await;
    // The server does not answer: it comes from the cache.
    assert_eq!(client.prompts().all().await.unwrap().len(), 1);
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    list(&client, &mut far, 0).await;
    list(&client, &mut far, 0).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_happens_by_itself_when_the_time_is_over() {
    let (client, mut far) = connected().await;
    list(&client, &mut far, 60_000).await;
    let hour = std::time::Duration::from_secs(3600);
    let said = tokio::time::timeout(hour, far.read()).await;
    assert!(said.is_err(), "{said:?}");
}

#[tokio::test]
async fn what_is_private_is_not_shared_between_clients() {
    let server = Scripted::start(|_, _| page("p", None, 60_000)).await;
    for _ in 0..2 {
        let client = ada(&server.url).connect().await.unwrap();
        client.prompts().all().await.unwrap();
        client.clone().prompts().all().await.unwrap();
    }
    assert_eq!(server.seen("prompts/list").len(), 2);
}

/// Reads a list of two pages and says which were asked for.
async fn pages(client: &Client, far: &mut Far, ttl: [u64; 2]) -> Vec<Value> {
    let mut asked = Vec::new();
    let all = client.prompts().all();
    tokio::pin!(all);
    loop {
        tokio::select! {
            biased;
            listed = &mut all => {
                let names: Vec<_> = listed.unwrap().into_iter().map(|each| each.name).collect();
                assert_eq!(names, ["a", "b"]);
                return asked;
            }
            request = far.read() => {
                let cursor = request["params"].get("cursor").cloned();
                let page = match cursor {
                    None => page("a", Some("second"), ttl[0]),
                    Some(_) => page("b", None, ttl[1]),
                };
                asked.push(cursor.unwrap_or_default());
                far.result(&request, page).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_starts_without_a_cursor_and_an_old_page_is_fetched_by_its_own() {
    let (client, mut far) = connected().await;
    let asked = pages(&client, &mut far, [60_000, 10_000]).await;
    assert_eq!(asked, [Value::Null, json!("second")]);
    tokio::time::advance(std::time::Duration::from_secs(11)).await;
    let asked = pages(&client, &mut far, [60_000, 10_000]).await;
    assert_eq!(asked, [json!("second")], "the first page is still fresh");
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_is_refused_makes_the_list_start_over() {
    let (client, mut far) = connected().await;
    pages(&client, &mut far, [60_000, 10_000]).await;
    tokio::time::advance(std::time::Duration::from_secs(11)).await;
    let (refused, ()) = tokio::join!(client.prompts().all(), async {
        let request = far.read().await;
        assert_eq!(request["params"]["cursor"], "second");
        let error = json!({"code": -32602, "message": "Invalid cursor"});
        far.say(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
            .await;
    });
    refused.unwrap_err();
    let asked = pages(&client, &mut far, [0, 0]).await;
    assert_eq!(asked, [Value::Null, json!("second")]);
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
