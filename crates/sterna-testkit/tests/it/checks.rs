//! Handlers that are right stand every check.

use std::time::Duration;

use sterna_server::{AskError, Cx, ToolError};
use sterna_testkit::Flow;

use crate::Outside;

async fn order(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let price = cx
        .step("price", || async {
            tokio::task::yield_now().await;
            42
        })
        .await;
    cx.checkpoint("priced").await;
    let (sure, name) = tokio::join!(
        cx.confirm("sure", format!("Pay {price}?")),
        cx.ask::<String>("name", "Who are you?"),
    );
    if !sure? {
        return Ok("never mind".to_owned());
    }
    let outside = cx.state::<Outside>().clone();
    cx.once("charge", |_| async move {
        outside.does("charge 42");
        tokio::task::yield_now().await;
    })
    .await?;
    let note: String = cx.ask("note", "Anything else?").await?;
    Ok(format!("{} pays {price}: {note}", name?))
}

fn flow() -> Flow {
    Flow::of(order)
        .world(Outside::default, Outside::done)
        .answer("name", "Ada")
        .answer("note", "no")
}

#[tokio::test]
async fn a_flow_with_an_effect_that_happens_at_most_once() {
    let checked = flow().agree("sure").check().await;
    assert_eq!((checked.replays, checked.ways), (2, 3));
    assert!(checked.crashes > 40, "{checked}");
    assert!(checked.sheds > 10, "{checked}");
}

#[tokio::test]
async fn a_flow_that_ends_early() {
    let flow = Flow::of(order)
        .world(Outside::default, Outside::done)
        .decline("sure")
        .answer("name", "Ada");
    flow.check().await;
}

async fn hurried(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    tokio::select! {
        name = cx.ask::<String>("name", "Who are you?") => name,
        () = cx.sleep("patience", Duration::from_secs(60)) => Ok("no answer".to_owned()),
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_waits_for_no_longer_than_a_minute() {
    let flow = Flow::of(hurried).answer("name", "Ada");
    assert_eq!(flow.run().await.text(), "Ada");
    let late = flow.round(2, |round| round.late(Duration::from_secs(61)));
    assert_eq!(late.run().await.text(), "no answer");
}
