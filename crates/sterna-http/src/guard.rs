//! Guards around a call: its deadline, and its panics.
//!
//! A deadline costs nothing unless it is needed. `tokio::time::timeout_at` makes
//! its timer first. A request has three deadlines, of which most calls need none:
//! some 250 instructions each.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep_until};

pin_project! {
    /// Future of [`with_deadline`].
    #[derive(Debug)]
    pub struct WithDeadline<F> {
        #[pin]
        future: F,
        #[pin]
        timer: Option<Sleep>,
        deadline: Instant,
    }
}

/// The deadline came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadlinePassed;

/// Runs `future` until `deadline`.
///
/// The timer is set when the future has to wait for the first time: a future
/// that is ready at once never touches it.
///
/// # Cancel safety
///
/// That of `future`.
pub fn with_deadline<F: Future>(deadline: Instant, future: F) -> WithDeadline<F> {
    WithDeadline {
        future,
        timer: None,
        deadline,
    }
}

impl<F: Future> Future for WithDeadline<F> {
    type Output = Result<F::Output, DeadlinePassed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Poll::Ready(output) = this.future.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        if this.timer.is_none() {
            this.timer.set(Some(sleep_until((*this.deadline).into())));
        }
        let timer = this.timer.as_pin_mut();
        match timer.is_some_and(|timer| timer.poll(cx).is_ready()) {
            true => Poll::Ready(Err(DeadlinePassed)),
            false => Poll::Pending,
        }
    }
}

pin_project! {
    /// Future of [`catch_panic`].
    #[derive(Debug)]
    pub struct CatchPanic<F> {
        #[pin]
        call: F,
    }
}

/// The call panicked. The panic hook has said where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Panicked;

/// Runs `call` and turns its panic into an error.
///
/// # Cancel safety
///
/// That of `call`.
pub fn catch_panic<F: Future>(call: F) -> CatchPanic<F> {
    CatchPanic { call }
}

impl<F: Future> Future for CatchPanic<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let call = self.project().call;
        // A call that panicked is never polled again, so its half-finished state is not seen.
        match catch_unwind(AssertUnwindSafe(|| call.poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Duration;

    use super::*;
    use crate::clock;

    #[tokio::test(start_paused = true)]
    async fn what_is_done_at_once_is_done_even_when_it_is_late() {
        let past = clock::now();
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(with_deadline(past, ready(7)).await, Ok(7));
        assert_eq!(
            with_deadline(past, pending::<()>()).await,
            Err(DeadlinePassed)
        );
    }
}
