//! Handlers that stay in memory: legacy clients and tasks.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use sterna_flow::{
    Asked, Blobs, BoxFuture, Build, Cx, Driver, Engine, Entry, FlowId, Journal, Journaling, Key,
    Level, Outcome, PlugError, Progress, Settings, Way,
};
use tokio::sync::Notify;

use crate::kit::{Count, Flow, Reply, number, sha256, text};
use crate::plugs::{Stores, Trouble};

/// Polls until the handler waits for somebody else.
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

async fn choose(cx: Cx<'_>, count: Count) -> Reply {
    let plan = cx.step("plan", || count.work("plan")).await?;
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
    let run = flow.run().way(Way::Legacy);
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
    let run = flow.run().way(Way::Task).journaling(stores.clone());
    run.resume(journal, 0, Build::Same)
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

/// Waits for an answer and for something that is not the engine's.
async fn held_up(cx: Cx<'_>, holder: Arc<Mutex<Option<Waker>>>) -> Reply {
    let never = poll_fn(|cx| {
        *holder.lock().unwrap() = Some(cx.waker().clone());
        Poll::<()>::Pending
    });
    let (answer, ()) = tokio::join!(cx.ask("a", text("a?")), never);
    Ok(answer)
}

#[tokio::test(start_paused = true)]
async fn a_task_that_something_else_may_wake_is_idle_when_its_grace_is_over() {
    let holder = Arc::default();
    let grace = Settings::default().grace;
    let flow = Flow::new();
    let run = task(&flow, &Stores::new(), &[]);
    let mut driver = run.drive(|cx| Box::pin(held_up(cx, Arc::clone(&holder))));
    rest(&flow, &mut driver).await;
    assert!(!driver.is_idle());
    assert_eq!(driver.next_wake(), Some(flow.now().after(grace)));
    tokio::time::advance(grace - Duration::from_millis(1)).await;
    rest(&flow, &mut driver).await;
    assert!(!driver.is_idle());
    tokio::time::advance(Duration::from_millis(1)).await;
    rest(&flow, &mut driver).await;
    assert!(driver.is_idle());
    assert_eq!(driver.next_wake(), None, "it has had its time");
    tokio::time::advance(Duration::from_millis(1)).await;
    rest(&flow, &mut driver).await;
    assert!(driver.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_nothing_else_can_wake_any_more_is_idle_at_once() {
    let holder = Arc::default();
    let flow = Flow::new();
    let run = task(&flow, &Stores::new(), &[]);
    let mut driver = run.drive(|cx| Box::pin(held_up(cx, Arc::clone(&holder))));
    rest(&flow, &mut driver).await;
    assert!(!driver.is_idle());
    drop(holder.lock().unwrap().take());
    assert!(driver.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_only_something_else_can_wake_is_never_idle() {
    async fn handler(_: Cx<'_>, holder: Arc<Mutex<Option<Waker>>>) -> Reply {
        poll_fn(|cx| {
            *holder.lock().unwrap() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
    let flow = Flow::new();
    let run = task(&flow, &Stores::new(), &[]);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, Arc::default())));
    rest(&flow, &mut driver).await;
    assert!(!driver.is_idle());
    tokio::time::advance(Duration::from_secs(3600)).await;
    rest(&flow, &mut driver).await;
    assert!(!driver.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_is_dropped_leaves_nothing_behind() {
    async fn handler(cx: Cx<'_>, alive: Arc<()>) -> Reply {
        let inner = cx.scope("inner");
        cx.undo("vm", move |_| async move {
            drop((inner, alive));
            Ok::<_, String>(())
        });
        Ok(cx.ask("a", text("a?")).await)
    }
    let alive = Arc::new(());
    let flow = Flow::new();
    let run = flow.run().way(Way::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, alive.clone())));
    rest(&flow, &mut driver).await;
    assert_eq!(Arc::strong_count(&alive), 2);
    drop(driver);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[tokio::test(start_paused = true)]
async fn a_log_shows_where_a_driver_is_and_no_question() {
    let flow = Flow::new();
    let run = flow.run().way(Way::Legacy);
    let mut driver = run.drive(|cx| Box::pin(choose(cx, Count::default())));
    rest(&flow, &mut driver).await;
    driver.changes();
    let expected = "Driver { way: Legacy, at_rest: true, questions: [\"a\", \"b\"], .. }";
    assert_eq!(format!("{driver:?}"), expected);
    assert_eq!(format!("{:?}", driver.remote()), "Remote");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_revealed_before_it_is_durable() {
    async fn handler(cx: Cx<'_>, stores: Arc<Stores>) -> Reply {
        let count = Count::default();
        let now = cx.now("now").await;
        assert_eq!(stored(&stores), "now");
        let plan = cx.step("plan", || count.work("plan")).await?;
        assert_eq!(stored(&stores), "now plan");
        let answer = cx
            .ask("a", text("a?"))
            .deadline(Duration::from_secs(60))
            .await?;
        assert_eq!(stored(&stores), "now plan a@ a");
        Ok(format!("{now} {plan} {answer}"))
    }
    let stores = Stores::new();
    let flow = Flow::new();
    let mut driver = task(&flow, &stores, &[]).drive(|cx| Box::pin(handler(cx, stores.clone())));
    rest(&flow, &mut driver).await;
    assert_eq!(opened(&mut driver), ["a"]);
    assert!(driver.answer("a", "A", flow.now()));
    let outcome = flow.finish(&mut driver).await;
    assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
}

/// Writes nothing before it is ready.
struct Disk {
    stores: Arc<Stores>,
    ready: Arc<Notify>,
}

impl Journaling for Disk {
    fn append(&self, entries: Vec<Entry>) -> BoxFuture<Result<(), PlugError>> {
        let (stores, ready) = (self.stores.clone(), self.ready.clone());
        Box::pin(async move {
            ready.notified().await;
            stores.append(entries).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_has_not_ended_before_all_of_it_is_durable() {
    async fn handler(cx: Cx<'_>, enough: Arc<Notify>) -> Reply {
        tokio::select! {
            plan = cx.step("plan", || async { Ok::<_, String>("plan".to_owned()) }) => Ok(plan?),
            () = enough.notified() => Ok("without a plan".to_owned()),
        }
    }
    let (stores, enough) = (Stores::new(), Arc::new(Notify::new()));
    let disk = Disk {
        stores: stores.clone(),
        ready: Arc::new(Notify::new()),
    };
    let ready = disk.ready.clone();
    let flow = Flow::new();
    let run = flow.run().way(Way::Task).journaling(Arc::new(disk));
    let mut driver = run.drive(|cx| Box::pin(handler(cx, enough.clone())));
    rest(&flow, &mut driver).await;
    enough.notify_one();
    rest(&flow, &mut driver).await;
    assert_eq!(stored(&stores), "");
    ready.notify_one();
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "without a plan"),
        "{outcome:?}"
    );
    assert_eq!(stored(&stores), "plan");
}

/// Counts what is fetched, and hands nothing out before it is ready.
struct Shelf {
    stores: Arc<Stores>,
    fetched: Count,
    ready: Arc<Notify>,
}

impl Blobs for Shelf {
    fn put(&self, flow: &FlowId, key: &Key, value: Bytes) -> BoxFuture<Result<Bytes, PlugError>> {
        self.stores.put(flow, key, value)
    }

    fn get(&self, reference: Bytes) -> BoxFuture<Result<Bytes, PlugError>> {
        self.fetched.add();
        let (stores, ready) = (self.stores.clone(), self.ready.clone());
        Box::pin(async move {
            ready.notified().await;
            stores.get(reference).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_blob_on_its_way_is_not_fetched_again() {
    async fn handler(cx: Cx<'_>, count: Count) -> Reply {
        let report = cx.step("report", || count.work("long")).by_ref();
        let (answer, report) = tokio::join!(cx.ask("ok", text("Ok?")), report);
        Ok(format!("{answer} {}", report?))
    }
    let (stores, count) = (Stores::new(), Count::default());
    let mut flow = Flow::with(Engine::new(sha256).blobs(stores.clone()));
    flow.request(&[], handler, count.clone()).await;
    let (fetched, ready) = (Count::default(), Arc::new(Notify::new()));
    flow.engine = Engine::new(sha256).blobs(Arc::new(Shelf {
        stores,
        fetched: fetched.clone(),
        ready: ready.clone(),
    }));
    let run = flow.run();
    let mut driver = run.drive(|cx| Box::pin(handler(cx, count.clone())));
    rest(&flow, &mut driver).await;
    assert_eq!(fetched.get(), 1);
    assert!(!driver.is_idle(), "it waits for more than its client");
    ready.notify_one();
    let outcome = flow.finish(&mut driver).await;
    assert!(matches!(outcome, Outcome::Suspended(_)), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_lost_its_lease_stops_and_compensates_nothing() {
    async fn handler(cx: Cx<'_>, count: Count) -> Reply {
        cx.undo("vm", {
            let count = count.clone();
            move |_| async move {
                count.add();
                Ok::<_, String>(())
            }
        });
        // Not even a handler that ignores every error gets any further.
        let plan = cx.step("plan", || async { Ok::<_, String>("plan".to_owned()) });
        let plan = plan.await.unwrap_or_default();
        count.add();
        Ok(plan)
    }
    let count = Count::default();
    let stores = Stores::new();
    *stores.trouble.lock().unwrap() = Some(Trouble::FenceLost);
    let flow = Flow::new();
    let mut driver = task(&flow, &stores, &[]).drive(|cx| Box::pin(handler(cx, count.clone())));
    let Outcome::Stopped(error) = flow.finish(&mut driver).await else {
        panic!("must stop");
    };
    assert_eq!(error.to_string(), "MR0116: `plan` could not be recorded");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "another worker has taken the flow over");
    assert_eq!(count.get(), 0);
    assert_eq!(stored(&stores), "");
}

#[tokio::test(start_paused = true)]
async fn an_answer_given_in_time_counts_although_the_worker_was_late() {
    async fn handler(cx: Cx<'_>, (): ()) -> Reply {
        let minute = Duration::from_secs(60);
        let answer = cx.ask("a", text("a?")).deadline(minute).await;
        Ok(answer.unwrap_or_else(|_| "too late".to_owned()))
    }
    let stores = Stores::new();
    let flow = Flow::new();
    let mut driver = task(&flow, &stores, &[]).drive(|cx| Box::pin(handler(cx, ())));
    rest(&flow, &mut driver).await;
    let question = driver.changes().opened.remove(0);
    let asked = [Asked::new("a", question.fingerprint)];
    drop(driver);
    tokio::time::advance(Duration::from_secs(30)).await;
    let answered_at = flow.now();
    tokio::time::advance(Duration::from_secs(300)).await;

    let in_time = task(&flow, &stores, &asked);
    let mut driver = in_time.drive(|cx| Box::pin(handler(cx, ())));
    assert_eq!(driver.next_wake(), question.deadline);
    assert!(driver.answer("a", "A", answered_at));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "A"),
        "{outcome:?}"
    );

    stores.entries.lock().unwrap().truncate(1);
    let late = task(&flow, &stores, &asked);
    let mut driver = late.drive(|cx| Box::pin(handler(cx, ())));
    assert!(!driver.answer("a", "A", flow.now()));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "too late"),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_with_its_question() {
    async fn handler(cx: Cx<'_>, (): ()) -> Reply {
        let minute = Duration::from_secs(60);
        let first = tokio::select! {
            a = cx.ask("a", text("a?")).deadline(minute) => a?,
            b = cx.ask("b", text("b?")) => b,
        };
        Ok(format!("{first} {}", cx.ask("last", text("Last?")).await))
    }
    let flow = Flow::new();
    let run = flow.run().way(Way::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
    rest(&flow, &mut driver).await;
    assert_eq!(opened(&mut driver), ["a", "b"]);
    assert!(driver.answer("b", "B", flow.now()));
    rest(&flow, &mut driver).await;
    assert_eq!(driver.next_wake(), None);
    tokio::time::advance(Duration::from_secs(61)).await;
    rest(&flow, &mut driver).await;
    let journal = driver.journal();
    let keys: Vec<_> = journal.entries().iter().map(|e| e.key().as_str()).collect();
    assert_eq!(keys, ["b"]);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_passed_behind_a_wrong_answer_has_passed() {
    async fn handler(cx: Cx<'_>, (): ()) -> Reply {
        let minute = Duration::from_secs(60);
        let answer = cx.ask("a", number("how many?")).deadline(minute).await;
        Ok(answer.unwrap_or_else(|_| "too late".to_owned()))
    }
    let mut flow = Flow::new();
    flow.request(&[], handler, ()).await;
    let answered_at = flow.now();
    tokio::time::advance(Duration::from_secs(61)).await;
    let mut driver = flow.run().drive(|cx| Box::pin(handler(cx, ())));
    assert!(driver.answer("a", "many", answered_at));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "too late"),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_to_a_reworded_question_does_not_count() {
    async fn handler(cx: Cx<'_>, words: &'static str) -> Reply {
        let minute = Duration::from_secs(60);
        let answer = cx.ask("a", text(words)).deadline(minute).await;
        Ok(answer.unwrap_or_else(|_| "too late".to_owned()))
    }
    let mut flow = Flow::new();
    flow.build = Build::Other;
    flow.request(&[], handler, "Deploy?").await;
    let second = flow.request(&[], handler, "Deploy now?").await;
    assert_eq!(second, "asks a~2: Deploy now?;");
    tokio::time::advance(Duration::from_secs(61)).await;
    let run = flow.run();
    let mut driver = run.drive(|cx| Box::pin(handler(cx, "Deploy now?")));
    assert!(!driver.answer("a~2", "yes", flow.now()));
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "too late"),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_end_in_its_own_way_when_it_is_cancelled() {
    async fn polite(cx: Cx<'_>, (): ()) -> Reply {
        tokio::select! {
            answer = cx.ask("a", text("a?")) => Ok(answer),
            () = cx.cancelled() => Ok("cleaned up".to_owned()),
        }
    }
    async fn with_step(cx: Cx<'_>, (): ()) -> Reply {
        let cancelled = cx.cancelled();
        let step = cx.step("long", || async {
            cancelled.await;
            Ok::<_, String>("stopped early".to_owned())
        });
        Ok(step.await?)
    }
    let flow = Flow::new();
    let run = flow.run().way(Way::Legacy);
    let mut driver = run.drive(|cx| Box::pin(polite(cx, ())));
    rest(&flow, &mut driver).await;
    driver.remote().cancel();
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "cleaned up"),
        "{outcome:?}"
    );
    let run = flow.run().way(Way::Legacy);
    let mut driver = run.drive(|cx| Box::pin(with_step(cx, ())));
    rest(&flow, &mut driver).await;
    driver.remote().cancel();
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "stopped early"),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_destructor_cannot_change_how_a_flow_ends() {
    struct Guard<'a>(Cx<'a>);
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            drop(self.0.ask("", text("a question without a name")));
        }
    }
    async fn handler(cx: Cx<'_>, (): ()) -> Reply {
        cx.undo("vm", |_| async {
            tokio::task::yield_now().await;
            Ok::<_, String>(())
        });
        let guard = Guard(cx);
        Ok(guard.0.ask("a", text("a?")).await)
    }
    let flow = Flow::new();
    let run = flow.run().way(Way::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
    rest(&flow, &mut driver).await;
    driver.remote().cancel();
    let outcome = flow.finish(&mut driver).await;
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn everybody_who_waits_for_a_cancellation_is_told() {
    async fn handler(cx: Cx<'_>, (): ()) -> Reply {
        // Each of these is polled when its own waker was woken, and only then.
        let mut watchers: FuturesUnordered<_> =
            [cx.cancelled(), cx.cancelled()].into_iter().collect();
        let mut told = 0;
        while watchers.next().await.is_some() {
            told += 1;
        }
        Ok(told.to_string())
    }
    let flow = Flow::new();
    let run = flow.run().way(Way::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
    rest(&flow, &mut driver).await;
    driver.remote().cancel();
    let outcome = flow.finish(&mut driver).await;
    assert!(
        matches!(&outcome, Outcome::Finished(told) if told == "2"),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_flow_is_shed_at_a_checkpoint_and_only_after_progress() {
    async fn handler(cx: Cx<'_>, count: Count) -> Reply {
        cx.checkpoint("start").await;
        let plan = cx.step("plan", || count.work("plan")).await?;
        cx.checkpoint("planned").await;
        let done = cx.step("work", || count.work("work")).await?;
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
async fn a_replay_is_silent() {
    async fn handler(cx: Cx<'_>, count: Count) -> Reply {
        cx.log(Level::Info, "begins");
        cx.step("plan", || count.work("plan")).await?;
        cx.progress(Progress::new(1.0).of(3.0));
        let answer = cx.ask("a", text("a?")).await;
        cx.log(Level::Notice, format!("got {answer}"));
        let last = cx.ask("b", text("b?")).await;
        cx.progress(Progress::new(3.0).of(3.0).saying("done"));
        Ok(last)
    }
    let stores = Stores::new();
    let mut flow = Flow::new();
    for answers in [vec![], vec![], vec![("a", "A")], vec![("b", "B")]] {
        let mut driver = flow
            .run()
            .listener(stores.clone())
            .drive(|cx| Box::pin(handler(cx, Count::default())));
        for (key, answer) in answers {
            driver.answer(key, answer, flow.now());
        }
        if let Outcome::Suspended(suspended) = flow.finish(&mut driver).await {
            flow.journal = suspended.journal;
        }
    }
    assert_eq!(
        *stores.heard.lock().unwrap(),
        [
            "Info begins",
            "progress 1 of Some(3.0)",
            "Notice got A",
            "progress 3 of Some(3.0)"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_the_first_question_is_not_said_again() {
    async fn handler(cx: Cx<'_>, (): ()) -> Reply {
        cx.log(Level::Info, format!("replaying: {}", cx.info().replaying));
        let answer = cx.ask("a", text("a?")).await;
        cx.log(Level::Info, format!("got {answer}"));
        Ok(answer)
    }
    let stores = Stores::new();
    let mut flow = Flow::new();
    // The journal of the second round has no entry, only what was asked.
    for answers in [&[][..], &[], &[("a", "A")]] {
        let run = flow.run().listener(stores.clone());
        let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
        for (key, answer) in answers {
            driver.answer(key, *answer, flow.now());
        }
        if let Outcome::Suspended(suspended) = flow.finish(&mut driver).await {
            flow.journal = suspended.journal;
        }
    }
    let heard = stores.heard.lock().unwrap().clone();
    assert_eq!(heard, ["Info replaying: false", "Info got A"]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_knows_where_it_stands() {
    async fn handler(cx: Cx<'_>, (): ()) -> Reply {
        let before = cx.info();
        cx.ask("a", text("a?")).await;
        Ok(format!("{before:?} then {:?}", cx.info().replaying))
    }
    let flow = Flow::new();
    let run = flow.run().principal("ada").way(Way::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler(cx, ())));
    rest(&flow, &mut driver).await;
    let asked = driver.changes().opened.remove(0).fingerprint;
    driver.answer("a", "A", flow.now());
    let Outcome::Finished(said) = flow.finish(&mut driver).await else {
        panic!("must finish");
    };
    let expected = "Standing { way: Legacy, round: 0, rounds_left: 8, replaying: false, principal: Some(\"ada\") } then false";
    assert_eq!(said, expected);

    let journal = Journal::from_entries(
        driver.journal().entries().iter().cloned(),
        [Asked::new("a", asked)],
    );
    let run = flow.run().resume(journal.unwrap(), 3, Build::Same);
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
