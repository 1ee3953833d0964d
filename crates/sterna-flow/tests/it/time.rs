//! Time, randomness and sleep.

use std::time::Duration;

use sterna_flow::{Engine, FlowCx, Settings};

use crate::kit::{Count, Flow, Reply, settings, sha256, text};

#[tokio::test(start_paused = true)]
async fn now_random_and_uuid_say_the_same_in_every_round() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let now = cx.now("start").await;
        let (dice, id) = (cx.random("dice").below(1_000_000), cx.uuid("order"));
        let words = format!("{now} {dice} {id}");
        Ok(cx.ask("ok", text(words)).await)
    }
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, ()).await;
    assert_eq!(flow.keys(), "start", "only the time needs to be kept");
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(flow.request(&[], handler, ()).await, first);
    assert!(flow.diagnostics.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_short_sleep_holds_the_request_open() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        cx.sleep("cool_down", Settings::default().max_inline_sleep)
            .await;
        Ok("rested".to_owned())
    }
    let mut flow = Flow::new();
    let before = flow.now();
    assert_eq!(flow.request(&[], handler, ()).await, "done: rested");
    assert_eq!(flow.now() - before, Settings::default().max_inline_sleep);
}

#[tokio::test(start_paused = true)]
async fn a_long_sleep_needs_a_task() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        cx.undo("vm", move |_| async move {
            count.add();
        });
        cx.sleep("night", Duration::from_secs(8 * 3600)).await;
        Ok("rested".to_owned())
    }
    let count = Count::default();
    assert_eq!(
        Flow::new().request(&[], handler, count.clone()).await,
        "stopped: MR0109: `night` sleeps too long for a request; run the handler as a task"
    );
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_beside_a_question_runs_while_the_client_is_away() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let day = Duration::from_secs(24 * 3600);
        let answer = tokio::select! {
            answer = cx.ask("ok", text("Ok?")) => answer,
            () = cx.sleep("day", day) => "too late".to_owned(),
        };
        Ok(format!("{answer} {}", cx.ask("last", text("Last?")).await))
    }
    let mut in_time = Flow::new();
    let mut late = Flow::new();
    in_time.request(&[], handler, ()).await;
    late.request(&[], handler, ()).await;
    assert_eq!(late.keys(), "day@");
    let second = in_time.request(&[("ok", "yes")], handler, ()).await;
    assert_eq!(second, "asks last: Last?;");
    assert_eq!(in_time.keys(), "ok", "an unused clock is not kept");
    tokio::time::advance(Duration::from_secs(25 * 3600)).await;
    let second = late.request(&[("ok", "yes")], handler, ()).await;
    assert_eq!(second, "asks last: Last?;");
    let end = late.request(&[("last", "x")], handler, ()).await;
    assert_eq!(end, "done: too late x");
    let end = in_time.request(&[("last", "x")], handler, ()).await;
    assert_eq!(end, "done: yes x");
}

#[tokio::test(start_paused = true)]
async fn the_grace_for_foreign_awaits_is_a_setting() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let (answer, ()) = tokio::join!(
            cx.ask("ok", text("Ok?")),
            tokio::time::sleep(Duration::from_millis(100)),
        );
        Ok(answer)
    }
    for (grace, waited) in [(0, 0), (25, 25), (500, 100)] {
        let grace = settings(|settings| settings.grace = Duration::from_millis(grace));
        let mut flow = Flow::with(Engine::new(sha256).settings(grace));
        let before = flow.now();
        assert_eq!(flow.request(&[], handler, ()).await, "asks ok: Ok?;");
        assert_eq!(flow.now() - before, Duration::from_millis(waited));
        assert_eq!(flow.codes().is_empty(), waited == 100);
    }
}
