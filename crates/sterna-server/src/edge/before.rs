//! A deadline that costs nothing unless it is needed.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep_until};

pin_project! {
    /// Runs a future until `deadline`.
    ///
    /// The timer is set when the future has to wait for the first time, so what
    /// is done at once never touches it.
    pub(crate) struct Before<F> {
        #[pin]
        future: F,
        #[pin]
        timer: Option<Sleep>,
        deadline: Instant,
    }
}

/// The deadline came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLate;

pub(crate) fn before<F: Future>(deadline: Instant, future: F) -> Before<F> {
    Before {
        future,
        timer: None,
        deadline,
    }
}

impl<F: Future> Future for Before<F> {
    type Output = Result<F::Output, TooLate>;

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
            true => Poll::Ready(Err(TooLate)),
            false => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Duration;

    use super::*;
    use crate::edge::clock;

    #[tokio::test(start_paused = true)]
    async fn what_is_done_at_once_is_done_even_when_it_is_late() {
        let past = clock::now();
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(before(past, ready(7)).await, Ok(7));
        assert_eq!(before(past, pending::<()>()).await, Err(TooLate));
    }
}
