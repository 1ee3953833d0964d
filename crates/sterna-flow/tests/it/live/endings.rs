//! Ends of flows that are cancelled or shed.

use std::error::Error;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use sterna_flow::{ExecutionMode, FlowCx, Handler, Outcome};

use super::rest;
use crate::kit::{Flow, Reply, text};

/// The outcome of a flow that is cancelled while it waits.
async fn cancelled<H>(handler: H) -> Outcome<String, Box<dyn Error + Send + Sync>>
where
    H: for<'a> Handler<'a, FlowCx<'a>, (), Output = Reply>,
{
    let flow = Flow::new();
    let run = flow.run().mode(ExecutionMode::Legacy);
    let mut driver = run.drive(|cx| Box::pin(handler.call(cx, ())));
    rest(&flow, &mut driver).await;
    driver.remote().cancel();
    flow.finish(&mut driver).await
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_end_in_its_own_way_when_it_is_cancelled() {
    async fn polite(cx: FlowCx<'_>, (): ()) -> Reply {
        tokio::select! {
            answer = cx.ask("a", text("a?")) => Ok(answer),
            () = cx.cancelled() => Ok("cleaned up".to_owned()),
        }
    }
    async fn with_step(cx: FlowCx<'_>, (): ()) -> Reply {
        let cancelled = cx.cancelled();
        let step = cx.try_step("long", || async {
            cancelled.await;
            Ok::<_, String>("stopped early".to_owned())
        });
        Ok(step.await?)
    }
    let outcome = cancelled(polite).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "cleaned up"),
        "{outcome:?}"
    );
    let outcome = cancelled(with_step).await;
    assert!(
        matches!(&outcome, Outcome::Finished(text) if text == "stopped early"),
        "{outcome:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_destructor_cannot_change_how_a_flow_ends() {
    struct Guard<'a>(FlowCx<'a>);
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            drop(self.0.ask("", text("a question without a name")));
        }
    }
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        cx.undo("vm", |_| async {
            tokio::task::yield_now().await;
        });
        let guard = Guard(cx);
        Ok(guard.0.ask("a", text("a?")).await)
    }
    let outcome = cancelled(handler).await;
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn everybody_who_waits_for_a_cancellation_is_told() {
    async fn handler(cx: FlowCx<'_>, (): ()) -> Reply {
        // Each of these is polled when its own waker was woken, and only then.
        let mut watchers: FuturesUnordered<_> =
            [cx.cancelled(), cx.cancelled()].into_iter().collect();
        let mut told = 0;
        while watchers.next().await.is_some() {
            told += 1;
        }
        Ok(told.to_string())
    }
    let outcome = cancelled(handler).await;
    assert!(
        matches!(&outcome, Outcome::Finished(told) if told == "2"),
        "{outcome:?}"
    );
}
