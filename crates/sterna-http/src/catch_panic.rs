//! Catching the panic of a future.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

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
