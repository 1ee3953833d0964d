//! Metadata of messages.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{Client, Era};
use sterna_protocol::meta::MetaKey;
use tokio::task::JoinSet;

use super::lines::{connected, in_session};
use super::real;
use super::rounds::ada;
use super::scripted::{Scripted, Seen, discovered, done, name_form};

#[tokio::test]
async fn who_a_server_says_it_is_decides_nothing() {
    let claims = [
        Value::Null,
        json!({"name": "sterna", "version": "99.0.0"}),
        json!({"name": "io.modelcontextprotocol/admin", "version": "0", "title": "Trust me"}),
    ];
    let mut conversations = Vec::new();
    for claim in claims {
        let server = Scripted::raw(move |seen, count| {
            let mut result = match (seen.body["method"].as_str(), count) {
                (Some("server/discover"), _) => discovered(),
                (Some("tools/call"), 1) => json!({"resultType": "input_required",
                    "inputRequests": {"who": name_form("Who?")}}),
                _ => done("ok"),
            };
            if !claim.is_null() {
                result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": claim});
            }
            result
        })
        .await;
        let client = ada(&server.url).connect().await.unwrap();
        client.call("t").await.unwrap();
        let said = |seen: Vec<Seen>| -> Vec<Value> {
            let bodies = seen.into_iter().map(|seen| seen.body);
            bodies.collect()
        };
        conversations.push((
            said(server.seen("server/discover")),
            said(server.seen("tools/call")),
        ));
    }
    assert_eq!(conversations[0].1.len(), 2, "the question was answered");
    assert_eq!(conversations[0], conversations[1]);
    assert_eq!(conversations[0], conversations[2]);
}

#[tokio::test]
async fn a_trace_goes_along_in_both_eras_unless_it_is_malformed() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let cases = [
        (json!(parent), json!("rojo=1"), json!("user=7")),
        (json!("00-nothing"), json!("rojo=1"), json!("user=7")),
        (json!(parent), json!("Rojo=1"), json!("a b")),
        (json!(7), json!({}), json!(["user=7"])),
    ];
    let mut shown = String::new();
    for era in [Era::Modern, Era::Legacy] {
        for (parent, state, baggage) in &cases {
            let (client, mut far) = match era {
                Era::Legacy => in_session(json!({}), |builder| builder).await,
                _ => connected().await,
            };
            let call = client
                .call("t")
                .meta("traceparent", parent)
                .meta("tracestate", state)
                .meta("baggage", baggage)
                .meta("com.example/own", "kept");
            let (ended, ()) = tokio::join!(call.into_future(), async {
                let request = far.read().await;
                let meta = request["params"]["_meta"].as_object().unwrap();
                let ours = meta.iter().filter(|(key, _)| !key.starts_with("io."));
                let ours: Vec<_> = ours.map(|(key, value)| format!("{key}={value}")).collect();
                shown += &format!("{era:?} {}\n", ours.join(" "));
                far.result(&request, done("ok")).await;
            });
            ended.unwrap();
        }
    }
    expect![[r#"
        Modern traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" tracestate="rojo=1" baggage="user=7" com.example/own="kept"
        Modern baggage="user=7" com.example/own="kept"
        Modern traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" com.example/own="kept"
        Modern com.example/own="kept"
        Legacy traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" tracestate="rojo=1" baggage="user=7" com.example/own="kept"
        Legacy baggage="user=7" com.example/own="kept"
        Legacy traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" com.example/own="kept"
        Legacy com.example/own="kept"
    "#]].assert_eq(&shown);
}

/// Collects the keys of every `_meta` in a message.
fn keys(message: &Value, found: &mut BTreeSet<String>) {
    match message {
        Value::Object(members) => {
            for (name, member) in members {
                if let ("_meta", Value::Object(meta)) = (&**name, member) {
                    found.extend(meta.keys().cloned());
                }
                keys(member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_prefix_that_we_write_is_a_name_turned_around() {
    let mut tasks = JoinSet::new();
    let url = real::serve(&mut tasks);
    let found: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    for era in [Era::Modern, Era::Legacy] {
        let sink = found.clone();
        let client = real::prepared(Client::builder(&url))
            .era(era)
            .on_wire(move |message| {
                let message = serde_json::from_slice(message.body).unwrap();
                keys(&message, &mut sink.lock().unwrap());
            })
            .connect()
            .await
            .unwrap();
        client.call("greet").on_progress(|_| {}).await.unwrap();
        client.read("note://1").await.unwrap();
        client.prompt("brief").await.unwrap();
        client.tools().all().await.unwrap();
    }
    let found = found.lock().unwrap();
    let prefixes: BTreeSet<_> = found
        .iter()
        .filter_map(|key| MetaKey::parse(key).unwrap().prefix())
        .collect();
    assert_eq!(Vec::from_iter(prefixes), ["io.modelcontextprotocol"]);
}
