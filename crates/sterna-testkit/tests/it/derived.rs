//! Values that are derived from a flow: the same in every replay of it, and in
//! every run of the kit.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sterna_server::{Cx, ToolError};
use sterna_testkit::{ExecutionMode, Flow};

use crate::Outside;

/// An order whose number is made up before the first question and after it, and
/// which hands its idempotency key to the outside.
async fn order(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let number = cx.uuid("number");
    let dice = cx.random("dice").below(1_000_000);
    let sure = cx.confirm("sure", format!("Order {number}?")).await?;
    let outside = cx.state::<Outside>().clone();
    let key = cx
        .effect("charge", |key| async move {
            outside.does(&format!("charge {key}"));
            key.to_string()
        })
        .await;
    Ok(format!(
        "{number} {dice} {key} {sure} {}",
        cx.uuid("receipt")
    ))
}

fn flow() -> Flow {
    Flow::of(order)
        .world(Outside::default, Outside::done)
        .agree("sure")
}

#[tokio::test]
async fn a_transcript_with_derived_values_is_the_same_in_every_run() {
    for mode in [
        ExecutionMode::RoundTrips,
        ExecutionMode::Legacy,
        ExecutionMode::Task,
    ] {
        let flow = flow().mode(mode);
        let (one, two) = (flow.run().await, flow.run().await);
        assert_eq!(one.transcript(), two.transcript());
        assert_eq!(one.effects(), two.effects());
    }
    let (there, here) = (
        flow().run().await,
        flow().mode(ExecutionMode::Task).run().await,
    );
    assert_eq!(there.text(), here.text());
}

#[tokio::test]
async fn a_result_of_derived_values_stands_every_check() {
    // An effect happens at least once; its key tells the service so.
    let deduplicated = Flow::of(order)
        .world(Outside::default, |outside: &Outside| {
            let mut done = outside.done();
            done.sort();
            done.dedup();
            done
        })
        .agree("sure");
    deduplicated.check().await;
}

#[derive(Deserialize, JsonSchema)]
struct Sent {
    to: String,
}

async fn send_first(cx: Cx<'_>, args: Sent) -> Result<String, ToolError> {
    let outside = cx.state::<Outside>().clone();
    let to = args.to;
    cx.effect("send", |key| async move {
        outside.does(&format!("send {to} {key}"));
    })
    .await;
    cx.confirm("seen", "Seen?").await?;
    Ok("sent".to_owned())
}

/// The keys differ, and yet it happened twice.
#[tokio::test]
async fn an_effect_of_two_flows_is_still_found() {
    let flow = Flow::of(send_first)
        .args(json!({"to": "ada"}))
        .world(Outside::default, Outside::done)
        .agree("seen");
    let failure = flow.try_check().await.unwrap_err().to_string();
    assert!(failure.contains("more than once"), "{failure}");
}

async fn careless(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    cx.confirm("sure", "Sure?").await?;
    let outside = cx.state::<Outside>().clone();
    outside.does("looked");
    Ok(format!("{}", outside.done().len()))
}

#[tokio::test]
async fn a_result_made_of_memory_is_still_found() {
    let flow = Flow::of(careless)
        .world(Outside::default, |_: &Outside| Vec::new())
        .agree("sure");
    let failure = flow.try_check().await.unwrap_err().to_string();
    assert!(failure.contains("ends differently"), "{failure}");
}
