//! Handlers that are wrong, each in one way, and what the kit says of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use expect_test::{Expect, expect};
use sterna_server::{AskError, Cx, ToolError};
use sterna_testkit::Flow;

use crate::Outside;

async fn check(flow: Flow, expected: Expect) {
    let failure = flow.try_check().await.expect_err("it is wrong");
    expected.assert_eq(&failure.to_string());
}

/// A clock that the engine does not know of.
#[derive(Clone, Default)]
struct Ticks(Arc<AtomicU32>);

async fn restless(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let tick = cx.state::<Ticks>().0.fetch_add(1, Ordering::SeqCst);
    let sure: bool = cx.confirm("sure", format!("Sure, at tick {tick}?")).await?;
    Ok(sure.to_string())
}

fn restless_flow() -> Flow {
    Flow::of(restless)
        .world(Ticks::default, |_| Vec::new())
        .agree("sure")
}

#[tokio::test]
async fn a_question_that_changes_by_itself() {
    check(restless_flow(), expect![[r#"
        `restless` asks something else when round 1 is replayed

          asked `sure`: "Sure, at tick 0?"
          asks  `sure~2`: "Sure, at tick 1?"

          A handler begins anew in every round, and is told again what it was told before.
          So what it asks must be made of its arguments, of answers, and of results of steps.
          Take the time from `cx.now`, chance from `cx.random`, and anything else from `cx.step`.

        round 1
          client    tools/call restless {}
          server    asks `sure`: "Sure, at tick 0?"
          --------  round 1 is replayed without answers
          log       MR0131: the question `sure` at crates/sterna-testkit/tests/it/wrong.rs:24:25 changed between two rounds though nothing else did, name `restless`
          server    asks `sure~2`: "Sure, at tick 1?"
    "#]]).await;
}

async fn careless(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    cx.state::<Outside>().does("open a ticket");
    let title: String = cx.ask("title", "What is it about?").await?;
    Ok(title)
}

#[tokio::test]
async fn an_effect_outside_a_step() {
    let flow = Flow::of(careless)
        .world(Outside::default, Outside::done)
        .answer("title", "Birds");
    check(
        flow,
        expect![[r#"
        `careless` acts outside a step: it does so again when round 1 is replayed

          before  ["open a ticket"]
          after   ["open a ticket", "open a ticket"]

          A handler begins anew in every round, and so does the code between its steps.
          Put it into `cx.step`, or into `cx.once` if it must not happen twice.

        round 1
          client    tools/call careless {}
          server    asks `title`: "What is it about?" {title: string}
          --------  round 1 is replayed without answers
          server    asks `title`: "What is it about?" {title: string}
    "#]],
    )
    .await;
}

async fn nameless(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let tick = cx.state::<Ticks>().0.fetch_add(1, Ordering::SeqCst);
    let step = format!("fetch-{tick}");
    cx.step(&step, || async {}).await;
    let title: String = cx.ask("title", "What is it about?").await?;
    Ok(title)
}

#[tokio::test]
async fn a_step_whose_name_changes_by_itself() {
    let flow = Flow::of(nameless)
        .world(Ticks::default, |_| Vec::new())
        .answer("title", "Birds");
    check(
        flow,
        expect![[r#"
        `nameless` runs `fetch-1` when round 1 is replayed

          A step that has a result does not run again, if it has the same name.
          Make names of arguments, of answers, and of results of steps.

        round 1
          client    tools/call nameless {}
          server    ran fetch-0
          server    asks `title`: "What is it about?" {title: string}
          --------  round 1 is replayed without answers
          server    ran fetch-1
          server    asks `title`: "What is it about?" {title: string}
    "#]],
    )
    .await;
}

async fn charge(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let sure = cx.confirm("sure", "Charge 42?").await?;
    let outside = cx.state::<Outside>().clone();
    // At least once, and not at most once.
    cx.step("charge", || async move {
        outside.does("charge 42");
        tokio::task::yield_now().await;
    })
    .await;
    Ok(sure.to_string())
}

#[tokio::test]
async fn an_effect_that_is_repeated_when_a_replica_dies() {
    let flow = Flow::of(charge)
        .world(Outside::default, Outside::done)
        .agree("sure");
    check(flow, expect![[r#"
        `charge` does "charge 42" more than once if a replica dies
        (the replica dies at poll 6 of 7)

          without the crash  ["charge 42"]
          with it            ["charge 42", "charge 42"]

          What a replica did in the round in which it died is forgotten, and a step runs at least once.
          For what must not happen twice use `cx.once`, or hand the key of `cx.effect` to a service that knows it.

        round 1
          client    tools/call charge {}
          server    asks `sure`: "Charge 42?"
        round 2
          client    agrees to `sure`
          server    began charge
          --------  the replica dies in the middle of `charge`, and the client sends the request again
          server    ran charge
          server    "true"
    "#]]).await;
}

/// Leaves something in the memory of the replica that runs it.
async fn remember(cx: &Cx<'_>) -> Result<(), ToolError> {
    let seen = cx.state::<Ticks>().clone();
    cx.step("remember", || async move {
        seen.0.fetch_add(1, Ordering::SeqCst);
    })
    .await;
    Ok(())
}

async fn mindful(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    remember(&cx).await?;
    cx.confirm("sure", "Sure?").await?;
    let seen = cx.state::<Ticks>().0.load(Ordering::SeqCst);
    Ok(format!("seen {seen}"))
}

#[tokio::test]
async fn a_result_that_depends_on_the_memory_of_one_replica() {
    let flow = Flow::of(mindful).state(Ticks::default).agree("sure");
    check(flow, expect![[r#"
        `mindful` ends differently in a session of 2025-11-25

          in round trips  "seen 0"
          here            "seen 1"

          What a handler asks, does and returns must be made of its arguments, of answers, and of results of steps.
          The memory of a replica and the extensions of an HTTP request do not go with it.

        round 1
          client    tools/call mindful in a session
          server    ran remember
          server    asks `sure`: "Sure?"
          client    agrees to `sure`
          server    "seen 1"
    "#]]).await;
}

async fn layered(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let layer = cx.extensions().get::<u8>().is_some();
    cx.confirm("sure", "Sure?").await?;
    Ok(format!("through a layer: {layer}"))
}

#[tokio::test]
async fn a_result_that_depends_on_the_way() {
    let flow = Flow::of(layered).extension(7_u8).agree("sure");
    check(flow, expect![[r#"
        `layered` ends differently as a task

          in round trips  "through a layer: true"
          here            "through a layer: false"

          What a handler asks, does and returns must be made of its arguments, of answers, and of results of steps.
          The memory of a replica and the extensions of an HTTP request do not go with it.

        round 1
          client    tools/call layered as a task
          server    asks `sure`: "Sure?"
        round 2
          client    agrees to `sure`
          server    "through a layer: false"
    "#]]).await;
}

async fn old_fashioned(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let version = cx.request().client().map_or("new", |_| "old");
    cx.confirm("sure", format!("Sure, {version} client?"))
        .await?;
    Ok("sure".to_owned())
}

#[tokio::test]
async fn a_question_that_depends_on_the_way() {
    check(
        Flow::of(old_fashioned).agree("sure"),
        expect![[r#"
        `old_fashioned` asks in a session what it does not ask in round trips
        (in a session of 2025-11-25)

          In round trips it asks `sure`: "Sure, new client?".

        round 1
          client    tools/call old_fashioned in a session
          server    asks `?`: "Sure, old client?"
    "#]],
    )
    .await;
}

async fn forgetful(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let rounds = cx.state::<Ticks>().0.fetch_add(1, Ordering::SeqCst);
    cx.step("first", || async {}).await;
    cx.checkpoint("between").await;
    cx.step("second", || async {}).await;
    Ok(format!("{} runs", rounds + 1))
}

#[tokio::test]
async fn a_result_that_depends_on_how_often_the_handler_began() {
    let flow = Flow::of(forgetful).world(Ticks::default, |_| Vec::new());
    check(
        flow,
        expect![[r#"
        `forgetful` ends differently if a replica dies
        (the replica dies at poll 2 of 7)

          without the crash  "1 runs"
          with it            "2 runs"

          After a crash a handler begins anew, on a replica with another memory.
          What it returns must be made of its arguments, of answers, and of results of steps.

        round 1
          client    tools/call forgetful {}
          --------  the replica dies, and the client sends the request again
          server    ran first
          server    ran second
          server    "2 runs"
    "#]],
    )
    .await;
}

async fn homesick(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    remember(&cx).await?;
    cx.checkpoint("remembered").await;
    let seen = cx.state::<Ticks>().0.load(Ordering::SeqCst);
    Ok(format!("seen {seen}"))
}

#[tokio::test]
async fn a_result_that_depends_on_the_replica_that_began() {
    let flow = Flow::of(homesick).state(Ticks::default);
    check(flow, expect![[r#"
        `homesick` ends differently when it is sent from one replica to another

          in round trips  "seen 1"
          here            "seen 0"

          What a handler asks, does and returns must be made of its arguments, of answers, and of results of steps.
          The memory of a replica and the extensions of an HTTP request do not go with it.

        round 1
          client    tools/call homesick {}
          server    ran remember
          server    sends the client to another replica
        round 2
          client    comes again
          server    "seen 0"
    "#]]).await;
}

async fn early(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let outside = cx.state::<Outside>().clone();
    // A client that loses the response has nothing to say that it is the same flow.
    cx.once("reserve", |_| async move {
        outside.does("reserve");
    })
    .await?;
    cx.confirm("sure", "Sure?").await?;
    Ok("reserved".to_owned())
}

#[tokio::test]
async fn an_effect_before_the_first_question() {
    let flow = Flow::of(early)
        .world(Outside::default, Outside::done)
        .agree("sure");
    check(flow, expect![[r#"
        `early` does "reserve" more than once if a replica dies
        (the replica dies at poll 5 of 11)

          without the crash  ["reserve"]
          with it            ["reserve", "reserve"]

          A client that loses the first response has no state, and its next request begins another flow.
          Act after the first answer, or run as a task.

        round 1
          client    tools/call early {}
          server    ran reserve
          --------  the replica dies, and the client sends the request again
          server    ran reserve
          server    asks `sure`: "Sure?"
        round 2
          client    agrees to `sure`
          server    "reserved"
    "#]]).await;
}

#[tokio::test]
async fn a_question_that_changes_by_itself_in_a_single_run() {
    let failure = restless_flow().try_run().await.expect_err("it is wrong");
    expect![[r#"
        `restless` asks `sure~2`, and the script has no answer left to it

          It asks `sure~2`: "Sure, at tick 1?".
          The script answers: sure.

          A handler begins anew in every round, and is told again what it was told before.
          So what it asks must be made of its arguments, of answers, and of results of steps.
          Take the time from `cx.now`, chance from `cx.random`, and anything else from `cx.step`.

        round 1
          client    tools/call restless {}
          server    asks `sure`: "Sure, at tick 0?"
        round 2
          client    agrees to `sure`
          log       MR0131: the question `sure` at crates/sterna-testkit/tests/it/wrong.rs:24:25 changed between two rounds though nothing else did, name `restless`
          server    asks `sure~2`: "Sure, at tick 1?"
    "#]].assert_eq(&failure.to_string());
}

async fn endless(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    cx.sleep("nap", Duration::from_secs(3600)).await;
    Ok("awake".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_sleep_that_no_request_can_wait_for() {
    check(Flow::of(endless), expect![[r#"
        `endless` ends differently in a session of 2025-11-25

          in round trips  error -32603 "Internal error"
          here            error -32603 "The call took longer than the server allows (`timeouts.call`)"

          What a handler asks, does and returns must be made of its arguments, of answers, and of results of steps.
          The memory of a replica and the extensions of an HTTP request do not go with it.

        round 1
          client    tools/call endless in a session
          server    error -32603 "The call took longer than the server allows (`timeouts.call`)"
    "#]]).await;
}
