//! Texts for the author of a handler.

use std::time::Duration;

use expect_test::{Expect, expect};
use sterna_flow::{BuildMatch, FlowCx};

use crate::kit::{Count, Flow, Reply, text};

/// Source positions without the parts that change with every edit.
fn without_lines(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(".rs:") {
        out.push_str(&rest[..at + 3]);
        rest = rest[at + 3..].trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
    }
    out.push_str(rest);
    out.replace('\\', "/")
}

#[track_caller]
fn check(said: &str, expected: Expect) {
    expected.assert_eq(&without_lines(said));
}

#[tokio::test(start_paused = true)]
async fn one_name_in_progress_twice_names_both_places() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let (a, b) = tokio::join!(cx.ask("row", text("1?")), cx.ask("row", text("2?")));
        Ok(format!("{a} {b}"))
    }
    let said = Flow::new().request(&[], handler, ()).await;
    check(
        &said,
        expect![
            "stopped: MR0103: `row` is in progress twice, from crates/sterna-flow/tests/it/diagnostics.rs and from crates/sterna-flow/tests/it/diagnostics.rs"
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_name_is_free_again_when_its_future_has_ended() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let mut first = Box::pin(cx.try_step("x", || count.work("1")));
        let first_result = (&mut first).await?;
        // The future is still there, but it has ended.
        let second = cx.try_step("x", || count.work("2")).await?;
        drop(first);
        Ok(format!("{first_result} {second}"))
    }
    let end = Flow::new().request(&[], handler, Count::default()).await;
    assert_eq!(end, "done: 1 2");
}

#[tokio::test(start_paused = true)]
async fn the_context_is_of_no_use_inside_a_step() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let inner = &cx;
        let step = cx.try_step("outer", || async move {
            Ok::<_, String>(inner.ask("inner", text("?")).await)
        });
        Ok(step.await?)
    }
    async fn awaited_inside(cx: FlowCx<'_>, (): ()) -> Reply {
        let question = cx.ask("inner", text("?"));
        let step = cx.try_step("outer", || async move { Ok::<_, String>(question.await) });
        Ok(step.await?)
    }
    async fn random_inside(cx: FlowCx<'_>, (): ()) -> Reply {
        let inner = &cx;
        let step = cx.try_step("outer", || async move {
            Ok::<_, String>(inner.uuid("inner").to_string())
        });
        Ok(step.await?)
    }
    let expected = "stopped: MR0104: `inner` was used inside the step `outer`";
    assert_eq!(Flow::new().request(&[], handler, ()).await, expected);
    assert_eq!(Flow::new().request(&[], awaited_inside, ()).await, expected);
    let said = Flow::new().request(&[], random_inside, ()).await;
    assert!(said.starts_with("stopped: MR0104: `inner?`"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_changes_by_itself_is_reported() {
    async fn handler(cx: FlowCx<'_>, time: u32) -> Reply {
        Ok(cx.ask("ok", text(format!("Deploy at {time}?"))).await)
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, 1).await;
    let second = flow.request(&[("ok", "yes")], handler, 2).await;
    assert_eq!(second, "asks ok~2: Deploy at 2?;");
    // Unanswered it is reported as well, and the client gets a key of its own.
    let third = flow.request(&[], handler, 3).await;
    assert_eq!(third, "asks ok~3: Deploy at 3?;");
    assert_eq!(flow.codes(), ["MR0131", "MR0131"]);
    check(
        &flow.diagnostics[0].to_string(),
        expect![
            "MR0131: the question `ok` at crates/sterna-flow/tests/it/diagnostics.rs changed between two rounds though nothing else did"
        ],
    );
    let answers = [("ok", "1"), ("ok~2", "2"), ("ok~3", "3")];
    let end = flow.request(&answers, handler, 3).await;
    assert_eq!(end, "done: 3");

    // Another build may have other words.
    let mut flow = Flow::new();
    flow.request(&[], handler, 1).await;
    flow.build = BuildMatch::Other;
    flow.request(&[("ok", "yes")], handler, 2).await;
    assert!(flow.diagnostics.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_foreign_await_beside_a_question_is_reported_with_its_place() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let (answer, ()) = tokio::join!(
            cx.ask("ok", text("Ok?")),
            tokio::time::sleep(Duration::from_secs(60)),
        );
        Ok(answer)
    }
    let mut flow = Flow::new();
    assert_eq!(flow.request(&[], handler, ()).await, "asks ok: Ok?;");
    check(
        &flow.diagnostics[0].to_string(),
        expect![
            "MR0130: the question `ok` at crates/sterna-flow/tests/it/diagnostics.rs waited for something that is not a step"
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_nothing_can_wake_is_stopped() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        drop(cx);
        std::future::pending().await
    }
    async fn once_curious(cx: FlowCx<'_>, (): ()) -> Reply {
        tokio::select! {
            biased;
            () = cx.cancelled() => {}
            () = std::future::ready(()) => {}
        }
        std::future::pending().await
    }
    let said = Flow::new().request(&[], handler, ()).await;
    let expected = "stopped: MR0114: the handler waits, and nothing is left that could wake it";
    assert_eq!(said, expected);
    let said = Flow::new().request(&[], once_curious, ()).await;
    assert_eq!(said, expected);
}

#[tokio::test(start_paused = true)]
async fn names_must_be_names() {
    async fn handler(cx: FlowCx<'_>, name: String) -> Reply {
        Ok(cx.ask(&name, text("?")).await)
    }
    let said = Flow::new().request(&[], handler, String::new()).await;
    assert_eq!(
        said,
        "stopped: MR0115: `` is not a valid name: it must have 1 to 224 bytes"
    );
    let said = Flow::new().request(&[], handler, "x".repeat(225)).await;
    assert!(said.starts_with("stopped: MR0115"), "{said}");
    let said = Flow::new().request(&[], handler, "x".repeat(224)).await;
    assert!(said.starts_with("asks x"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_destructor_that_panics_does_not_stop_a_suspension() {
    struct Guard<'a>(FlowCx<'a>);
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            // All calls here come too late to change anything.
            drop(self.0.ask("late", text("late?")));
            self.0.undo("late", |_| async {});
            assert!(std::hint::black_box(false), "guard");
        }
    }
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let guard = Guard(cx);
        Ok(guard.0.ask("ok", text("Ok?")).await)
    }
    let mut flow = Flow::new();
    assert_eq!(flow.request(&[], handler, ()).await, "asks ok: Ok?;");
    assert_eq!(flow.codes(), ["MR0136"]);
    assert_eq!(flow.keys(), "");
}

#[tokio::test(start_paused = true)]
async fn errors_cannot_be_hidden_by_the_handler() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        // A combinator that never polls the offender again.
        let twice = || async { tokio::join!(cx.ask("x", text("1")), cx.ask("x", text("2"))) };
        tokio::select! {
            biased;
            _ = twice() => {}
            () = std::future::ready(()) => {}
        }
        Ok("hidden".to_owned())
    }
    let said = Flow::new().request(&[], handler, ()).await;
    assert!(said.starts_with("stopped: MR0103"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_log_names_what_a_handler_waits_for() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let none = || async { Ok::<_, String>(()) };
        let second = Duration::from_secs(1);
        let within = cx.ask("within", text("secret")).deadline(second);
        let memo = cx.memo("memo", |_| async {});
        let race = cx.race("race", (async {}, async {}));
        Ok([
            format!("{:?}", cx.scope("inner")),
            format!("{:?}", cx.ask("ask", text("secret"))),
            format!("{within:?}"),
            format!("{:?}", cx.try_step("step", none)),
            format!("{:?}", cx.try_once("once", |_| none())),
            format!("{memo:?} {race:?}"),
            format!("{:?}", cx.now("now")),
            format!("{:?}", cx.sleep("sleep", second)),
            format!("{:?}", cx.checkpoint("checkpoint")),
            format!("{:?}", cx.cancelled()),
            format!("{:?}", cx.random("random")),
        ]
        .join("\n"))
    }
    let said = Flow::new().request(&[], handler, ()).await;
    check(
        &said,
        expect![[r#"
        done: FlowCx { scope: Some("inner"), .. }
        Ask(ask)
        Ask(within)
        Step(step)
        Once(Step(once))
        Memo(memo) Race(race)
        Now(now)
        Sleep(sleep)
        Checkpoint(checkpoint)
        Cancelled
        Random(..)"#]],
    );
}

#[tokio::test(start_paused = true)]
async fn a_log_shows_no_secret_of_an_engine_or_a_run() {
    let flow = Flow::new();
    let said = format!("{:?}", flow.run().principal("ada"));
    assert!(
        said.starts_with("Run { mode: RoundTrips, round: 0,"),
        "{said}"
    );
    assert!(!said.contains("ada"), "{said}");
    let said = format!("{:?}", flow.engine);
    assert!(said.starts_with("Engine { settings: Settings {"), "{said}");
    assert!(
        said.ends_with("ledger: false, blobs: false, .. }"),
        "{said}"
    );
}
