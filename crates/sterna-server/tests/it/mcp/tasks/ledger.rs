use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sterna_server::{Cx, Server, Tool, ToolError};

use super::super::{Client, accept, show};
use super::Fleet;

type Payments = Arc<AtomicUsize>;

async fn pay(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let sure: String = cx.ask("sure", "Sure?").await?;
    let payments = Payments::clone(cx.state());
    let number = cx
        .once("pay", |_| async move {
            Ok::<_, ToolError>(payments.fetch_add(1, Ordering::SeqCst) + 1)
        })
        .await?;
    Ok(format!("{sure} {number}"))
}

/// Its journal is too large to travel.
async fn big(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let mut length = 0;
    for part in 0..8 {
        let text = cx
            .step(&format!("part-{part}"), || async {
                Ok::<_, ToolError>("x".repeat(15_000))
            })
            .await?;
        length += text.len();
    }
    let sure: String = cx.ask("sure", "Sure?").await?;
    Ok(format!("{sure} {length}"))
}

/// Breaks down when it is first answered.
async fn stumble(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let sure: String = cx.ask("sure", "Sure?").await?;
    let before = cx.state::<Payments>().fetch_add(1, Ordering::SeqCst);
    assert_ne!(before, 0, "on purpose");
    Ok(format!("{sure} {before}"))
}

fn server(payments: &Payments) -> Server {
    Server::new("ledger", "1")
        .state(Payments::clone(payments))
        .tool("pay", "", pay)
        .tool("big", "", big)
        .tool("stumble", "", stumble)
        .offer(Tool::new("single", "", pay).single_use())
}

async fn ask(client: &Client, tool: &str) -> (Value, Value) {
    let params = json!({"name": tool, "arguments": {}});
    let asked = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    assert_eq!(show(&asked), "ask {sure: Sure?}");
    (params, asked)
}

fn yes(text: &str) -> Value {
    json!({"sure": accept(json!({"sure": text}))})
}

const REFUSED: &str =
    r#"400 -32602 "Invalid or expired requestState" {"reason":"invalid_request_state"}"#;

#[tokio::test(start_paused = true)]
async fn the_same_retry_gets_the_same_response_on_every_instance() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let here = fleet.front(server(&payments).remember_rounds());
    let there = fleet.front(server(&payments).remember_rounds());
    let (params, asked) = ask(&here, "pay").await;
    let (one, two) = tokio::join!(
        here.retry("tools/call", &params, &asked, yes("yes")),
        there.retry("tools/call", &params, &asked, yes("yes")),
    );
    let (one, two) = (one.into_result(), two.into_result());
    assert_eq!(show(&one), "yes 1");
    assert_eq!(one, two);
    let late = there.retry("tools/call", &params, &asked, yes("yes")).await;
    assert_eq!(late.into_result(), one);
    let other = there.retry("tools/call", &params, &asked, yes("no")).await;
    assert_eq!(other.error(), REFUSED);
    assert_eq!(payments.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn an_effect_happens_once_though_its_round_is_played_twice() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let here = fleet.front(server(&payments));
    let there = fleet.front(server(&payments));
    let (params, asked) = ask(&here, "pay").await;
    for client in [here, there] {
        let reply = client
            .retry("tools/call", &params, &asked, yes("yes"))
            .await;
        assert_eq!(show(&reply.into_result()), "yes 1");
    }
    assert_eq!(payments.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_round_that_failed_is_played_again_at_once() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let here = fleet.front(server(&payments).remember_rounds());
    let there = fleet.front(server(&payments).remember_rounds());
    let (params, asked) = ask(&here, "stumble").await;
    let failed = here.retry("tools/call", &params, &asked, yes("yes")).await;
    assert_eq!(failed.error(), r#"500 -32603 "Internal error""#);
    let since = tokio::time::Instant::now();
    let again = there.retry("tools/call", &params, &asked, yes("yes")).await;
    assert_eq!(show(&again.into_result()), "yes 1");
    assert!(since.elapsed() < std::time::Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_single_use_takes_its_answers_once() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let client = fleet.front(server(&payments));
    let (params, asked) = ask(&client, "single").await;
    let first = client
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(show(&first.into_result()), "yes 1");
    let second = client
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(second.error(), REFUSED);
}

#[tokio::test(start_paused = true)]
async fn a_state_too_large_to_travel_stays_in_the_store() {
    let (fleet, payments) = (Fleet::new(), Payments::default());
    let client = fleet.front(server(&payments));
    let (params, asked) = ask(&client, "big").await;
    assert!(asked["requestState"].as_str().unwrap().len() < 1000);
    let elsewhere = fleet.front(server(&payments));
    let reply = elsewhere
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(show(&reply.into_result()), "yes 120000");
    // A server that has no store cannot open it, and does not say why.
    let without = Client::of(Server::new("ledger", "1").tool("big", "", big));
    let reply = without
        .retry("tools/call", &params, &asked, yes("yes"))
        .await;
    assert_eq!(reply.error(), REFUSED);
}
