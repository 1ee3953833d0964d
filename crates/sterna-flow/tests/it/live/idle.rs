//! When a task counts as idle.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use sterna_flow::{FlowCx, Settings};

use super::{rest, task};
use crate::backends::Stores;
use crate::kit::{Flow, Reply, text};

/// Waits for an answer and for something that is not the engine's.
async fn held_up(cx: FlowCx<'_>, holder: Arc<Mutex<Option<Waker>>>) -> Reply {
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
    assert_eq!(driver.next_wake(), Some(flow.now() + grace));
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
    async fn handler(_: FlowCx<'_>, holder: Arc<Mutex<Option<Waker>>>) -> Reply {
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
