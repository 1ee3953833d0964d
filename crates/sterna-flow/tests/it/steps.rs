//! Steps: what is remembered, what is tried again, what is refused.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sterna_flow::{Engine, FlowCx, Key, Observer, Retry, StepError, StepErrorKind};

use crate::backends::Stores;
use crate::kit::{Count, Flow, Reply, settings, sha256, text};

#[tokio::test(start_paused = true)]
async fn an_error_is_remembered_like_a_result() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let error = cx
            .try_step("plan", || count.fail("no quota"))
            .await
            .unwrap_err();
        assert_eq!(error.kind, StepErrorKind::Failed);
        let answer = cx.ask("go_on", text(error.to_string())).await;
        Ok(format!("{}: {answer}", error.message))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, count.clone()).await;
    assert_eq!(first, "asks go_on: step `plan` failed: no quota;");
    let second = flow
        .request(&[("go_on", "yes")], handler, count.clone())
        .await;
    assert_eq!(second, "done: no quota: yes");
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_cannot_fail_returns_its_value() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let plan = cx.step("plan", || async { count.add() }).await;
        let key = cx.effect("pay", async |key| {
            count.add();
            key.to_string()
        });
        let ((), key) = (plan, key.await);
        let answer = cx.ask("ok", text("Ok?")).await;
        Ok(format!("{}: {answer}", key.is_empty()))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, count.clone()).await;
    assert_eq!(first, "asks ok: Ok?;");
    let second = flow.request(&[("ok", "yes")], handler, count.clone()).await;
    assert_eq!(second, "done: false: yes");
    assert_eq!(count.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_value_may_be_a_result_of_its_own() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let refused = |code: u16| async move { Err::<String, u16>(code) };
        let seen = cx.step("call", || refused(403)).await;
        cx.ask("ok", text("Ok?")).await;
        Ok(format!("{seen:?}"))
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, ()).await;
    let second = flow.request(&[("ok", "yes")], handler, ()).await;
    assert_eq!(second, "done: Err(403)");
}

#[tokio::test(start_paused = true)]
async fn a_recorded_failure_is_no_value_of_a_body_that_cannot_fail() {
    async fn older(cx: FlowCx<'_>, count: Count) -> Reply {
        let _ = cx.try_step("plan", || count.fail("no quota")).await;
        Ok(cx.ask("ok", text("Ok?")).await)
    }
    async fn newer(cx: FlowCx<'_>, count: Count) -> Reply {
        cx.step("plan", || async { count.add() }).await;
        Ok(cx.ask("ok", text("Ok?")).await)
    }
    async fn lenient(cx: FlowCx<'_>, count: Count) -> Reply {
        let plan = cx.step("plan", || async { count.add() });
        plan.rerun_if_unreadable().await;
        Ok(cx.ask("ok", text("Ok?")).await)
    }
    let count = Count::default();
    let mut flow = Flow::new();
    flow.request(&[], older, count.clone()).await;
    let stopped = flow.request(&[("ok", "yes")], newer, count.clone()).await;
    assert!(stopped.starts_with("stopped: MR0101"), "{stopped}");
    assert!(stopped.contains("no quota"), "{stopped}");
    let done = flow.request(&[("ok", "yes")], lenient, count.clone()).await;
    assert_eq!(done, "done: yes");
    assert_eq!(count.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_transient_error_is_never_a_result() {
    async fn handler(cx: FlowCx<'_>, (count, works): (Count, bool)) -> Reply {
        let before = cx.try_step("before", || count.work("before")).await?;
        let step = cx.try_step("call", || async {
            match works {
                true => count.work("called").await,
                false => count.fail("timed out").await,
            }
        });
        // Not even a handler that swallows errors sees it.
        let called = step
            .transient(|error| error.contains("timed out"))
            .await
            .unwrap_or_else(|_| "swallowed".to_owned());
        Ok(cx.ask("ok", text(format!("{before} {called}"))).await)
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, (count.clone(), false)).await;
    let expected = "stopped: MR0117: the step `call` failed for now: timed out";
    assert_eq!(first, expected);
    let second = flow.request(&[], handler, (count.clone(), true)).await;
    assert_eq!(second, "asks ok: before called;");
}

#[tokio::test(start_paused = true)]
async fn a_step_is_tried_again_when_its_author_says_so() {
    async fn handler(cx: FlowCx<'_>, (count, enough): (Count, usize)) -> Reply {
        let second = Duration::from_secs(1);
        let retry = Retry::times(3).backoff(second, second * 10);
        let result = cx
            .retry("call", retry, || async {
                count.add();
                match count.get() >= enough {
                    true => Ok(format!("try {}", count.get())),
                    false => Err(format!("error {}", count.get())),
                }
            })
            .retry_if(|error| error != "error 5")
            .await;
        Ok(cx.ask("ok", text(format!("{result:?}"))).await)
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let before = flow.now();
    let first = flow.request(&[], handler, (count.clone(), 3)).await;
    assert_eq!(first, "asks ok: Ok(\"try 3\");");
    assert_eq!(flow.now() - before, Duration::from_secs(3));
    // The fifth error is not worth another try; the last one counts.
    let mut flow = Flow::new();
    let second = flow.request(&[], handler, (count.clone(), 9)).await;
    assert!(second.contains("error 5"), "{second}");
    let again = flow.request(&[], handler, (count.clone(), 9)).await;
    assert!(again.contains("error 5"), "{again}");
    assert_eq!(count.get(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_takes_too_long_is_stopped() {
    async fn handler(cx: FlowCx<'_>, tries: u32) -> Reply {
        let stuck = std::future::pending::<Result<(), String>>;
        let step = cx.try_step("wait", stuck);
        let step = step.timeout(Duration::from_secs(2));
        let error: StepError = match tries {
            1 => step.await.unwrap_err(),
            _ => {
                let step = cx.retry("retry", Retry::times(tries), stuck);
                step.timeout(Duration::from_secs(2)).await.unwrap_err()
            }
        };
        assert_eq!(error.kind, StepErrorKind::TimedOut);
        Ok(error.to_string())
    }
    let mut flow = Flow::new();
    let before = flow.now();
    let end = flow.request(&[], handler, 1).await;
    assert_eq!(end, "done: step `wait` timed out: no result after 2s");
    assert_eq!(flow.now() - before, Duration::from_secs(2));
    let before = flow.now();
    flow.request(&[], handler, 3).await;
    assert_eq!(flow.now() - before, Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_error_of_that_call_alone() {
    async fn in_step(cx: FlowCx<'_>, count: Count) -> Reply {
        cx.undo("vm", move |_| async move {
            count.add();
        });
        let step = cx.try_step("plan", || async {
            assert!(std::hint::black_box(false), "index out of bounds");
            Ok::<_, String>(())
        });
        step.await?;
        Ok("unreachable".to_owned())
    }
    async fn outside(_: FlowCx<'_>, _: Count) -> Reply {
        assert!(std::hint::black_box(false), "no such thing");
        Ok("unreachable".to_owned())
    }
    let count = Count::default();
    let mut flow = Flow::new();
    assert_eq!(
        flow.request(&[], in_step, count.clone()).await,
        "stopped: MR0100: the handler panicked inside the step `plan`: index out of bounds"
    );
    assert_eq!(count.get(), 1, "compensations run as after any error");
    assert_eq!(
        flow.request(&[], outside, count).await,
        "stopped: MR0100: the handler panicked: no such thing"
    );
}

#[tokio::test(start_paused = true)]
async fn a_large_result_needs_a_place_of_its_own() {
    async fn handler(cx: FlowCx<'_>, (count, by_ref): (Count, bool)) -> Reply {
        let step = cx.try_step("report", || count.work("x".repeat(100)));
        let report = match by_ref {
            true => step.by_ref().await?,
            false => step.await?,
        };
        Ok(cx.ask("ok", text(format!("{} bytes", report.len()))).await)
    }
    let small = || settings(|settings| settings.limits.value_bytes = 50);
    let count = Count::default();
    let mut flow = Flow::with(Engine::new(sha256).settings(small()));
    assert_eq!(
        flow.request(&[], handler, (count.clone(), false)).await,
        "stopped: MR0107: the result of `report` has 102 bytes, 50 are allowed"
    );
    let refused = flow.request(&[], handler, (count.clone(), true)).await;
    assert!(refused.starts_with("stopped: MR0111"), "{refused}");
    assert_eq!(count.get(), 1, "it is refused before it runs");

    let stores = Stores::new();
    flow.engine = flow.engine.blobs(stores.clone());
    let stored = flow.request(&[], handler, (count.clone(), true)).await;
    assert_eq!(stored, "asks ok: 100 bytes;");
    assert_eq!(flow.journal.entries()[0].value().len(), 1);
    let replayed = flow.request(&[], handler, (count.clone(), true)).await;
    assert_eq!(replayed, "asks ok: 100 bytes;");
    assert_eq!(count.get(), 2);
    stores.blobs.lock().unwrap().clear();
    let lost = flow.request(&[], handler, (count, true)).await;
    assert_eq!(lost, "stopped: MR0116: `report` could not be fetched");
}

#[tokio::test(start_paused = true)]
async fn a_result_may_be_as_large_as_is_allowed() {
    async fn of_step(cx: FlowCx<'_>, size: usize) -> Reply {
        let value = "x".repeat(size);
        Ok(cx.step("x", || async { value }).await)
    }
    async fn of_memo(cx: FlowCx<'_>, size: usize) -> Reply {
        Ok(cx.memo("x", |_| async { "x".repeat(size) }).await)
    }
    for (size, begins) in [
        (48, "done: x"),
        (49, "stopped: MR0107: the result of `x` has 51 bytes"),
        (60, "stopped: MR0107: the result of `x` has 62 bytes"),
    ] {
        let small = || settings(|settings| settings.limits.value_bytes = 50);
        let flow = || Flow::with(Engine::new(sha256).settings(small()));
        let step = flow().request(&[], of_step, size).await;
        assert!(step.starts_with(begins), "{step}");
        let memo = flow().request(&[], of_memo, size).await;
        assert!(memo.starts_with(begins), "{memo}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_observer_sees_every_try_and_no_replay() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let twice = Retry::times(2);
        let failing = cx.retry("flaky", twice, || count.fail("no")).await;
        let plan = cx.try_step("plan", || count.work("plan")).await?;
        Ok(cx
            .ask("ok", text(format!("{plan} {}", failing.is_err())))
            .await)
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observer = Observer::new({
        let seen = seen.clone();
        move |key: &Key, what| seen.lock().unwrap().push(format!("{key} {what:?}"))
    });
    assert_eq!(format!("{observer:?}"), "Observer(..)");
    let watched = settings(|settings| settings.observer = Some(observer));
    let mut flow = Flow::with(Engine::new(sha256).settings(watched));
    for _ in 0..2 {
        let asks = flow.request(&[], handler, Count::default()).await;
        assert_eq!(asks, "asks ok: plan true;");
    }
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "flaky Began",
            "flaky Began",
            "flaky Ended",
            "plan Began",
            "plan Ended"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_full_journal_is_an_error_that_says_so() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        loop {
            cx.step("row", || async { 1 }).await;
        }
    }
    let mut flow =
        Flow::with(Engine::new(sha256).settings(settings(|settings| settings.limits.entries = 3)));
    assert_eq!(
        flow.request(&[], handler, ()).await,
        "stopped: MR0108: no room for `row#4`: the journal has 3 entries"
    );
}

#[tokio::test(start_paused = true)]
async fn a_secret_is_marked_and_no_value_is_printed() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let login = || async { Ok::<_, String>("s3cret".to_owned()) };
        let token = cx.try_step("login", login).secret().await?;
        Ok(cx.ask("ok", text(token.len().to_string())).await)
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, ()).await;
    assert!(flow.journal.entries()[0].secret());
    let printed = format!("{:?}", flow.journal);
    assert!(!printed.contains("s3cret"), "{printed}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_written_as_json_is_refused() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let map = std::collections::BTreeMap::from([((1, 2), 3)]);
        cx.step("map", || async { map }).await;
        Ok("unreachable".to_owned())
    }
    assert_eq!(
        Flow::new().request(&[], handler, ()).await,
        "stopped: MR0118: the result of `map` cannot be recorded: key must be a string"
    );
}

#[tokio::test(start_paused = true)]
async fn steps_of_one_join_run_at_the_same_time() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let nap = || async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            Ok::<_, String>(())
        };
        let naps = (0..10).map(|row| cx.scope(row).try_step("nap", nap));
        for result in cx.join_all(naps).await {
            result?;
        }
        Ok("rested".to_owned())
    }
    let mut flow = Flow::new();
    let before = flow.now();
    assert_eq!(flow.request(&[], handler, ()).await, "done: rested");
    assert_eq!(flow.now() - before, Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_step_that_lost_a_choice_before_its_turn_never_begins() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        // Both could end at once; as without an engine, only the first runs.
        let winner = tokio::select! {
            biased;
            first = cx.try_step("first", || async { Ok::<_, String>(1) }) => first?,
            second = cx.try_step("second", || async { count.add(); Ok::<_, String>(2) }) => second?,
        };
        Ok(winner.to_string())
    }
    let count = Count::default();
    let end = Flow::new().request(&[], handler, count.clone()).await;
    assert_eq!(end, "done: 1");
    assert_eq!(count.get(), 0);
}
