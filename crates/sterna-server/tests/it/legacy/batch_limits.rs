//! The limits of calls hold for every message of a batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::http::{HttpConfig, Rate};
use sterna_server::{Cx, Server};

use super::Session;
use crate::mcp::Reply;

/// Counts the calls that run, and the most that ever did at once.
#[derive(Clone, Default)]
struct Running {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

async fn work(cx: Cx<'_>, (): ()) -> &'static str {
    let running = cx.state::<Running>().clone();
    let now = running.now.fetch_add(1, Ordering::SeqCst) + 1;
    running.most.fetch_max(now, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(1)).await;
    running.now.fetch_sub(1, Ordering::SeqCst);
    "done"
}

fn batch(size: usize) -> Value {
    numbered(1, size)
}

/// A batch of `size` calls whose ids begin with `first`.
fn numbered(first: usize, size: usize) -> Value {
    let call = |id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "work"}});
    (first..first + size).map(call).collect()
}

fn server(change: impl FnOnce(&mut HttpConfig)) -> Server {
    let mut http = HttpConfig::default();
    change(&mut http);
    Server::new("work", "1").tool("work", "", work).http(http)
}

/// The number of calls of a reply that have their result.
fn done(reply: &Reply) -> usize {
    let messages = reply.messages.iter();
    let answers = messages.flat_map(|message| match message.as_array() {
        Some(answers) => answers.as_slice(),
        None => std::slice::from_ref(message),
    });
    answers
        .filter(|answer| answer["result"]["content"][0]["text"] == "done")
        .count()
}

#[tokio::test(start_paused = true)]
async fn batches_run_no_more_calls_at_once_than_there_are_slots() {
    let running = Running::default();
    let server = server(|http| http.limits.calls = 8).state(running.clone());
    let session = Session::none(server).open("2025-03-26", json!({})).await;
    let batches = (0..7).map(|number| {
        let session = session.clone();
        async move {
            loop {
                let response = session.post(numbered(number * 32, 32)).await;
                if response.status() != 503 {
                    return Reply::read(response).await;
                }
                // Another batch has all slots.
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    });
    let mut tasks = tokio::task::JoinSet::new();
    for batch in batches {
        tasks.spawn(batch);
    }
    let mut answered = 0;
    while let Some(reply) = tasks.join_next().await {
        answered += done(&reply.unwrap());
    }
    // A batch that has a slot is served to its end.
    assert_eq!(answered, 7 * 32);
    assert_eq!(running.most.load(Ordering::SeqCst), 8);
    assert_eq!(running.now.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_batch_uses_the_slots_that_are_free() {
    let running = Running::default();
    let server = server(|http| http.limits.calls = 8).state(running.clone());
    let session = Session::none(server).open("2025-03-26", json!({})).await;
    let reply = Reply::read(session.post(batch(5)).await).await;
    assert_eq!(done(&reply), 5);
    assert_eq!(running.most.load(Ordering::SeqCst), 5);
}

#[tokio::test(start_paused = true)]
async fn every_message_of_a_batch_is_charged() {
    let tokens = StaticTokens::parse("token-of-ada ada\ntoken-of-bob bob").unwrap();
    let server = server(|http| http.rates.calls = Some(Rate::new(40, NEVER)))
        .gate(Gate::guarded(tokens))
        .state(Running::default());
    let none = Session::none(server);
    let ada = none.with_token("token-of-ada");
    // Opening the session takes two.
    let ada = ada.open("2025-03-26", json!({})).await;
    let reply = Reply::read(ada.post(batch(32)).await).await;
    assert_eq!(done(&reply), 32);
    let refused = ada.post(batch(7)).await;
    assert_eq!(refused.status(), 429);
    // Six were left and one was taken by the refused POST: two more make seven. The batch
    // before took a second.
    let wait = refused.headers()["retry-after"].to_str().unwrap();
    assert_eq!(wait, (2 * NEVER.as_secs() - 1).to_string());
    let reply = Reply::read(ada.post(batch(5)).await).await;
    assert_eq!(done(&reply), 5);
    assert_eq!(ada.post(batch(1)).await.status(), 429);
    let bob = none.with_token("token-of-bob");
    let bob = bob.open("2025-03-26", json!({})).await;
    assert_eq!(done(&Reply::read(bob.post(batch(3)).await).await), 3);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_no_allowance_covers_is_refused_for_good() {
    let tokens = StaticTokens::parse("token-of-ada ada").unwrap();
    let server = server(|http| http.rates.calls = Some(Rate::new(4, Duration::from_secs(1))))
        .gate(Gate::guarded(tokens))
        .state(Running::default());
    let ada = Session::none(server).with_token("token-of-ada");
    let ada = ada.open("2025-03-26", json!({})).await;
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(ada.post(batch(5)).await.status(), 400);
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(done(&Reply::read(ada.post(batch(4)).await).await), 4);
}

/// A time long enough never to matter in a test whose clock runs.
const NEVER: Duration = Duration::from_secs(3600);
