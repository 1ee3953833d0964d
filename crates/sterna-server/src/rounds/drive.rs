//! Polls a flow until it ends or has to wait for its client.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use sterna_flow::{Driver, Outcome};
use tokio::time::Sleep;

use super::clock::flow_now;
use crate::failure::Failure;

/// Polls `driver` to its outcome, asking `may_stay` every time whether this
/// instance wants to keep the flow.
pub(super) async fn drive<F, T>(
    driver: &mut Driver<'static, F>,
    may_stay: impl Fn() -> bool,
) -> Outcome<T, Failure>
where
    F: Future<Output = Result<T, Failure>> + Send + ?Sized,
{
    let remote = driver.remote();
    let mut timer = pin!(None::<Sleep>);
    poll_fn(|cx| {
        if !may_stay() {
            remote.shed();
        }
        loop {
            if let Poll::Ready(outcome) = driver.poll(flow_now(), cx) {
                return Poll::Ready(outcome);
            }
            let Some(wake) = driver.next_wake() else {
                timer.set(None);
                return Poll::Pending;
            };
            let wait = flow_now().until(wake);
            timer.set(Some(tokio::time::sleep(wait)));
            let over = timer.as_mut().as_pin_mut();
            if !over.is_some_and(|timer| timer.poll(cx).is_ready()) {
                return Poll::Pending;
            }
        }
    })
    .await
}
