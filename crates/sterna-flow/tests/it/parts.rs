//! Memos, races and compensations.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sterna_flow::{ExecutionMode, FlowCx, IdempotencyKey, Outcome};

use crate::kit::{Count, Flow, Reply, text};

#[tokio::test(start_paused = true)]
async fn a_finished_memo_takes_the_place_of_all_that_was_inside() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let profile: String = cx
            .memo("profile", |cx| {
                let count = count.clone();
                async move {
                    let plan = cx.try_step("plan", || count.work("plan")).await;
                    let name = cx.ask("name", text("Name?")).await;
                    let age = cx.ask("age", text("Age?")).await;
                    format!("{}/{name}/{age}", plan.unwrap_or_default())
                }
            })
            .await;
        let last = cx.ask("last", text(profile.clone())).await;
        Ok(format!("{profile} {last}"))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, count.clone()).await;
    assert_eq!(first, "asks profile*/name: Name?;");
    let answers = [("profile*/name", "Ada")];
    flow.request(&answers, handler, count.clone()).await;
    assert_eq!(flow.keys(), "profile*/plan profile*/name");
    let answers = [("profile*/age", "36")];
    let third = flow.request(&answers, handler, count.clone()).await;
    assert_eq!(third, "asks last: plan/Ada/36;");
    assert_eq!(flow.keys(), "profile");
    let end = flow.request(&[("last", "x")], handler, count.clone()).await;
    assert_eq!(end, "done: plan/Ada/36 x");
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_memo_in_a_loop_keeps_the_journal_short() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let mut total = 0;
        for _ in 0..3 {
            total += cx
                .memo("row", |cx| {
                    let count = count.clone();
                    async move {
                        for _ in 0..5 {
                            cx.try_step("cell", || count.work("x")).await.ok();
                        }
                        5
                    }
                })
                .await;
        }
        Ok(cx.ask("ok", text(total.to_string())).await)
    }
    let count = Count::default();
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, count.clone()).await;
    assert_eq!(first, "asks ok: 15;");
    assert_eq!(flow.keys(), "row row#2 row#3");
    flow.request(&[], handler, count.clone()).await;
    assert_eq!(count.get(), 15);
}

#[tokio::test(start_paused = true)]
async fn a_compensation_inside_a_memo_is_refused() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        cx.memo("vm", |cx| async move {
            cx.undo("vm", |_| async {});
        })
        .await;
        Ok("unreachable".to_owned())
    }
    assert_eq!(
        Flow::new().request(&[], handler, ()).await,
        "stopped: MR0113: `vm*/vm!` was registered inside a memo, which a replay does not enter"
    );
}

#[tokio::test(start_paused = true)]
async fn a_race_with_something_foreign_has_one_winner_for_ever() {
    async fn handler(cx: FlowCx<'_>, patience: u64) -> Reply {
        let foreign = async {
            tokio::time::sleep(Duration::from_millis(patience)).await;
            "foreign".to_owned()
        };
        let step = async {
            let slow = || async {
                tokio::time::sleep(Duration::from_millis(500)).await;
                Ok::<_, String>("step".to_owned())
            };
            cx.try_step("slow", slow).await.unwrap_or_default()
        };
        let winner = cx.race("race", (foreign, step)).await;
        Ok(cx.ask("ok", text(winner)).await)
    }
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, 100).await;
    assert_eq!(first, "asks ok: foreign;");
    // On this machine the foreign one would lose by far.
    let second = flow.request(&[], handler, 100_000).await;
    assert_eq!(second, "asks ok: foreign;");
    let mut flow = Flow::new();
    let first = flow.request(&[], handler, 100_000).await;
    assert_eq!(first, "asks ok: step;");
    let second = flow.request(&[], handler, 0).await;
    assert_eq!(second, "asks ok: step;");
}

type Undone = Arc<Mutex<Vec<&'static str>>>;

/// Notes that it ran, or fails to.
fn undoing(
    undone: &Undone,
    name: &'static str,
) -> impl FnOnce(IdempotencyKey) -> std::future::Ready<Result<(), String>> + Send + use<> {
    let undone = undone.clone();
    move |_| {
        undone.lock().unwrap().push(name);
        std::future::ready(match name {
            "network" => Err("still in use".to_owned()),
            _ => Ok(()),
        })
    }
}

async fn provision(cx: FlowCx<'_>, undone: Undone) -> Reply {
    let count = Count::default();
    cx.try_step("vm", || count.work("vm")).await?;
    cx.try_undo("vm", undoing(&undone, "vm"));
    cx.try_step("network", || count.work("network")).await?;
    cx.try_undo("network", undoing(&undone, "network"));
    match cx.ask("keep", text("Keep it?")).await.as_str() {
        "yes" => Ok("kept".to_owned()),
        other => Err(other.into()),
    }
}

#[tokio::test(start_paused = true)]
async fn compensations_run_in_reverse_when_the_handler_fails() {
    let undone = Undone::default();
    let mut flow = Flow::new();
    flow.request(&[], provision, undone.clone()).await;
    assert!(undone.lock().unwrap().is_empty(), "not at a suspension");
    let end = flow
        .request(&[("keep", "no")], provision, undone.clone())
        .await;
    assert_eq!(end, "failed: no");
    assert_eq!(*undone.lock().unwrap(), ["network", "vm"]);
    assert_eq!(flow.codes(), ["MR0134"], "one of them did not work");
}

#[tokio::test(start_paused = true)]
async fn compensations_do_not_run_when_all_went_well() {
    let undone = Undone::default();
    let mut flow = Flow::new();
    flow.request(&[], provision, undone.clone()).await;
    let end = flow
        .request(&[("keep", "yes")], provision, undone.clone())
        .await;
    assert_eq!(end, "done: kept");
    assert!(undone.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn compensations_run_when_the_flow_is_cancelled() {
    let undone = Undone::default();
    let flow = Flow::new();
    let begin = || {
        let run = flow.run().mode(ExecutionMode::Legacy);
        run.drive(|cx| Box::pin(provision(cx, undone.clone())))
    };
    let mut driver = begin();
    driver.remote().cancel();
    let outcome = flow.finish(&mut driver).await;
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    // A flow that is cancelled begins nothing, so there is nothing to undo.
    assert!(undone.lock().unwrap().is_empty());

    let mut driver = begin();
    let waiting = flow.finish(&mut driver);
    tokio::select! {
        outcome = waiting => panic!("no answer was given: {outcome:?}"),
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    driver.remote().cancel();
    let outcome = flow.finish(&mut driver).await;
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    assert_eq!(*undone.lock().unwrap(), ["network", "vm"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_destructor_wants_undone_comes_too_late() {
    struct Guard<'a>(FlowCx<'a>, Undone);
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            self.0.try_undo("late", undoing(&self.1, "late"));
            self.0.try_undo("", undoing(&self.1, "nameless"));
        }
    }
    async fn handler(cx: FlowCx<'_>, undone: Undone) -> Reply {
        cx.try_undo("vm", undoing(&undone, "vm"));
        let guard = Guard(cx, undone);
        Ok(guard.0.ask("keep", text("Keep it?")).await)
    }
    let undone = Undone::default();
    let flow = Flow::new();
    let run = flow.run().mode(ExecutionMode::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, undone.clone())));
    tokio::select! {
        outcome = flow.finish(&mut driver) => panic!("no answer was given: {outcome:?}"),
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    driver.remote().cancel();
    let outcome = flow.finish(&mut driver).await;
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    assert_eq!(*undone.lock().unwrap(), ["vm"]);
}
