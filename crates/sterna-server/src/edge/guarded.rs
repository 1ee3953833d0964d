//! A call that may panic without taking its connection along.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

pin_project! {
    pub(crate) struct Guarded<F> {
        #[pin]
        call: F,
    }
}

/// The call panicked. The panic hook has said where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

pub(crate) fn guarded<F: Future>(call: F) -> Guarded<F> {
    Guarded { call }
}

impl<F: Future> Future for Guarded<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let call = self.project().call;
        // A call that panicked is never polled again, so nobody sees what it left half done.
        match catch_unwind(AssertUnwindSafe(|| call.poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    }
}
