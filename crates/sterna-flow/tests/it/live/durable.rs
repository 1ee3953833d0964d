//! Questions that a task shows, once they are durable.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_flow::{
    BackendError, Blobs, BoxFuture, Engine, Entry, ExecutionMode, FlowCx, FlowId, JournalSink, Key,
    Outcome,
};
use tokio::sync::Notify;

use super::{opened, rest, stored, task};
use crate::backends::{Stores, Trouble};
use crate::kit::{Count, Flow, Reply, sha256, text};

#[tokio::test(start_paused = true)]
async fn nothing_is_revealed_before_it_is_durable() {
    async fn handler(cx: FlowCx<'_>, stores: Arc<Stores>) -> Reply {
        let count = Count::default();
        let now = cx.now("now").await;
        assert_eq!(stored(&stores), "now");
        let plan = cx.try_step("plan", || count.work("plan")).await?;
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

impl JournalSink for Disk {
    fn append(&self, entries: Vec<Entry>) -> BoxFuture<Result<(), BackendError>> {
        let (stores, ready) = (self.stores.clone(), self.ready.clone());
        Box::pin(async move {
            ready.notified().await;
            stores.append(entries).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_has_not_ended_before_all_of_it_is_durable() {
    async fn handler(cx: FlowCx<'_>, enough: Arc<Notify>) -> Reply {
        tokio::select! {
            plan = cx.try_step("plan", || async { Ok::<_, String>("plan".to_owned()) }) => Ok(plan?),
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
    let run = flow
        .run()
        .mode(ExecutionMode::Task)
        .journaling(Arc::new(disk));
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
    fn put(
        &self,
        flow: &FlowId,
        key: &Key,
        value: Bytes,
    ) -> BoxFuture<Result<Bytes, BackendError>> {
        self.stores.put(flow, key, value)
    }

    fn get(&self, reference: Bytes) -> BoxFuture<Result<Bytes, BackendError>> {
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
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        let report = cx.try_step("report", || count.work("long")).by_ref();
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
    async fn handler(cx: FlowCx<'_>, count: Count) -> Reply {
        cx.undo("vm", {
            let count = count.clone();
            move |_| async move {
                count.add();
            }
        });
        // Not even a handler that ignores every error gets any further.
        let plan = cx.try_step("plan", || async { Ok::<_, String>("plan".to_owned()) });
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
