//! Handlers that stay in memory: legacy clients and tasks.

mod deadlines;
mod durable;
mod endings;
mod idle;
mod telling;

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use sterna_flow::{Asked, BuildMatch, Driver, Engine, ExecutionMode, FlowCx, Journal, Outcome};

use crate::backends::Stores;
use crate::kit::{Count, Flow, Reply, sha256, text};

/// Polls until the handler waits for an event from outside.
async fn rest<F>(flow: &Flow, driver: &mut Driver<'_, F>)
where
    F: Future<Output = Reply> + ?Sized,
{
    for _ in 0..100 {
        let mut cx = Context::from_waker(Waker::noop());
        assert!(driver.poll(flow.now(), &mut cx).is_pending());
        tokio::task::yield_now().await;
    }
}

fn opened<F>(driver: &mut Driver<'_, F>) -> Vec<String>
where
    F: Future<Output = Reply> + ?Sized,
{
    let opened = driver.changes().opened.into_iter();
    opened.map(|question| question.key.to_string()).collect()
}

async fn choose(cx: FlowCx<'_>, count: Count) -> Reply {
    let plan = cx.try_step("plan", || count.work("plan")).await?;
    let first = tokio::select! {
        a = cx.ask("a", text(format!("a for {plan}?"))) => a,
        b = cx.ask("b", text(format!("b for {plan}?"))) => b,
    };
    let last = cx.ask("last", text("last?")).await;
    Ok(format!("{first} {last}"))
}

#[tokio::test(start_paused = true)]
async fn a_legacy_client_is_asked_and_told_what_to_forget() {
    let count = Count::default();
    let flow = Flow::new();
    let run = flow.run().mode(ExecutionMode::Legacy);
    let mut driver = run.drive(|cx| Box::pin(choose(cx, count.clone())));
    rest(&flow, &mut driver).await;
    assert_eq!(opened(&mut driver), ["a", "b"]);
    assert_eq!(opened(&mut driver), [""; 0], "each is put once");
    assert!(!driver.answer("last", "early", flow.now()));
    assert!(driver.answer("b", "B", flow.now()));
    rest(&flow, &mut driver).await;
    let changes = driver.changes();
    assert_eq!(changes.opened[0].key.as_str(), "last");
    assert_eq!(changes.withdrawn[0].as_str(), "a");
    assert!(!driver.answer("b", "again", flow.now()));
    assert!(driver.answer("last", "x", flow.now()));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "B x"),
        "{outcome:?}"
    );
    assert_eq!(count.get(), 1, "nothing was replayed");
}

fn task(flow: &Flow, stores: &Arc<Stores>, asked: &[Asked]) -> sterna_flow::Run {
    let entries = stores.entries.lock().unwrap().clone();
    let journal = Journal::from_entries(entries, asked.iter().cloned()).unwrap();
    let run = flow
        .run()
        .mode(ExecutionMode::Task)
        .journaling(stores.clone());
    run.resume(journal, 0, BuildMatch::Same)
}

fn stored(stores: &Stores) -> String {
    let entries = stores.entries.lock().unwrap();
    let keys: Vec<_> = entries.iter().map(|entry| entry.key().as_str()).collect();
    keys.join(" ")
}

#[tokio::test(start_paused = true)]
async fn a_task_is_dropped_while_it_waits_and_goes_on_elsewhere() {
    let count = Count::default();
    let stores = Stores::new();
    let flow = Flow::new();
    let mut driver = task(&flow, &stores, &[]).drive(|cx| Box::pin(choose(cx, count.clone())));
    assert!(!driver.is_idle());
    rest(&flow, &mut driver).await;
    assert!(driver.is_idle());
    let asked: Vec<Asked> = driver
        .changes()
        .opened
        .into_iter()
        .map(|question| Asked::new(question.key.as_str(), question.fingerprint))
        .collect();
    assert_eq!(stored(&stores), "plan");
    drop(driver);

    let run = task(&flow, &stores, &asked);
    let mut driver = run.drive(|cx| Box::pin(choose(cx, count.clone())));
    assert!(driver.answer("a", "A", flow.now()));
    rest(&flow, &mut driver).await;
    let changes = driver.changes();
    assert_eq!(changes.opened[0].key.as_str(), "last");
    // This worker never asked it, and takes it back all the same.
    assert_eq!(changes.withdrawn[0].as_str(), "b");
    assert_eq!(stored(&stores), "plan a");
    assert!(driver.answer("last", "x", flow.now()));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "A x"),
        "{outcome:?}"
    );
    assert_eq!(stored(&stores), "plan a last");
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_is_dropped_leaves_nothing_behind() {
    async fn handler(cx: FlowCx<'_>, alive: Arc<()>) -> Reply {
        let inner = cx.scope("inner");
        cx.undo("vm", move |_| async move {
            drop((inner, alive));
        });
        Ok(cx.ask("a", text("a?")).await)
    }
    let alive = Arc::new(());
    let flow = Flow::new();
    let run = flow.run().mode(ExecutionMode::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, alive.clone())));
    rest(&flow, &mut driver).await;
    assert_eq!(Arc::strong_count(&alive), 2);
    drop(driver);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[tokio::test(start_paused = true)]
async fn a_log_shows_where_a_driver_is_and_no_question() {
    let flow = Flow::new();
    let run = flow.run().mode(ExecutionMode::Legacy);
    let mut driver = run.drive(|cx| Box::pin(choose(cx, Count::default())));
    rest(&flow, &mut driver).await;
    driver.changes();
    let expected = "Driver { mode: Legacy, at_rest: true, questions: [\"a\", \"b\"], .. }";
    assert_eq!(format!("{driver:?}"), expected);
    assert_eq!(format!("{:?}", driver.remote()), "Remote");
}

#[tokio::test(start_paused = true)]
async fn a_flow_is_shed_at_a_checkpoint_and_only_after_progress() {
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        cx.checkpoint("start").await;
        let plan = cx.try_step("plan", || count.work("plan")).await?;
        cx.checkpoint("planned").await;
        let done = cx.try_step("work", || count.work("work")).await?;
        Ok(format!("{plan} {done}"))
    }
    let count = Count::default();
    let mut flow = Flow::new();
    flow.shedding = true;
    // The first server has done nothing yet at the first checkpoint.
    assert_eq!(flow.request(&[], handler, count.clone()).await, "shed");
    assert_eq!(flow.keys(), "start plan");
    // The second one gets no further than the first did, so it must go on.
    let end = flow.request(&[], handler, count.clone()).await;
    assert_eq!(end, "done: plan work");
    assert_eq!(count.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_handler_knows_where_it_stands() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        let before = cx.info();
        cx.ask("a", text("a?")).await;
        Ok(format!("{before:?} then {:?}", cx.info().replaying))
    }
    let flow = Flow::new();
    let run = flow.run().principal("ada").mode(ExecutionMode::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
    rest(&flow, &mut driver).await;
    let asked = driver.changes().opened.remove(0).fingerprint;
    driver.answer("a", "A", flow.now());
    let Outcome::Finished(said) = flow.finish(&mut driver).await else {
        panic!("must finish");
    };
    let expected = "RunInfo { mode: Legacy, round: 0, rounds_left: 8, replaying: false, principal: Some(\"ada\") } then false";
    assert_eq!(said, expected);

    let journal = Journal::from_entries(
        driver.journal().entries().iter().cloned(),
        [Asked::new("a", asked)],
    );
    let run = flow.run().resume(journal.unwrap(), 3, BuildMatch::Same);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
    let Outcome::Finished(said) = flow.finish(&mut driver).await else {
        panic!("must finish");
    };
    assert!(
        said.contains("round: 3, rounds_left: 5, replaying: true"),
        "{said}"
    );
    assert!(said.ends_with("then true"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_finished_driver_stays_quiet() {
    let flow = Flow::with(Engine::new(sha256));
    let run = flow.run();
    let mut driver = run.drive(|_| Box::pin(async { Reply::Ok("done".to_owned()) }));
    let remote = driver.remote();
    flow.finish(&mut driver).await;
    remote.cancel();
    remote.shed();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(driver.poll(flow.now(), &mut cx), Poll::Pending));
    assert!(!driver.answer("x", "y", flow.now()));
    drop(driver);
    remote.cancel();
}
