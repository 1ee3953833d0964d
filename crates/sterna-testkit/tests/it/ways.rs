//! One flow in every way, by itself.

use std::time::Duration;

use expect_test::{Expect, expect};
use sterna_server::{Cx, ToolError};
use sterna_testkit::{ExecutionMode, Flow};

use crate::Outside;

async fn publish(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let page = cx
        .step("render", || async { "<h1>Birds</h1>".to_owned() })
        .await;
    let approval: String = cx.ask("approval", format!("Publish {page}?")).await?;
    cx.sleep("embargo", Duration::from_secs(10)).await;
    let outside = cx.state::<Outside>().clone();
    cx.once("publish", |_| async move {
        outside.does("publish");
    })
    .await?;
    Ok(format!("approved by {approval}"))
}

fn flow() -> Flow {
    Flow::of(publish)
        .world(Outside::default, Outside::done)
        .answer("approval", "Ada")
}

async fn check(mode: ExecutionMode, expected: Expect) {
    let run = flow().mode(mode).run().await;
    assert_eq!(run.effects(), ["publish"]);
    expected.assert_eq(&run.transcript());
}

#[tokio::test(start_paused = true)]
async fn in_round_trips() {
    check(
        ExecutionMode::RoundTrips,
        expect![[r#"
        round 1
          client    tools/call publish {}
          server    ran render
          server    asks `approval`: "Publish <h1>Birds</h1>?" {approval: string}
        round 2
          client    answers `approval`: {"approval":"Ada"}
          server    ran publish
          server    "approved by Ada"
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn in_a_session() {
    check(
        ExecutionMode::Legacy,
        expect![[r#"
        round 1
          client    tools/call publish in a session
          server    ran render
          server    asks `approval`: "Publish <h1>Birds</h1>?" {approval: string}
          client    answers `approval`: {"approval":"Ada"}
          server    ran publish
          server    "approved by Ada"
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn as_a_task() {
    check(
        ExecutionMode::Task,
        expect![[r#"
        round 1
          client    tools/call publish as a task
          server    ran render
          server    asks `approval`: "Publish <h1>Birds</h1>?" {approval: string}
        round 2
          client    answers `approval`: {"approval":"Ada"}
          server    ran publish
          server    "approved by Ada"
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_task_that_sleeps_is_not_waited_for() {
    async fn rest(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
        cx.sleep("night", Duration::from_secs(8 * 3600)).await;
        Ok("awake".to_owned())
    }
    let run = Flow::of(rest).mode(ExecutionMode::Task).run().await;
    assert_eq!(run.text(), "awake");
}
