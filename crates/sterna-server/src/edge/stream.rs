//! An answer that is spoken bit by bit.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep, sleep_until};

use super::body::Aborted;
use super::pulse::{InFlight, StreamPulse};
use super::slots::Slot;

/// What is left of an answer: events as they happen, then the end.
///
/// It is polled by the connection that carries the answer and dropped with it,
/// so it is the place to keep the running call itself.
pub trait Events: Send + 'static {
    /// The next event in the framing of `text/event-stream`, or the end.
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Call,
    Listener,
}

pin_project! {
    pub(super) struct EventStream {
        events: Option<Pin<Box<dyn Events>>>,
        kind: Kind,
        keep_alive: Option<Duration>,
        #[pin]
        silence: Option<Sleep>,
        #[pin]
        deadline: Option<Sleep>,
        held: Held,
    }
}

/// What a stream keeps for as long as it lasts.
#[derive(Debug, Default)]
pub(super) struct Held {
    #[expect(dead_code, reason = "kept for what dropping it does")]
    pub(super) slot: Option<Slot>,
    #[expect(dead_code, reason = "kept for what dropping it does")]
    pub(super) in_flight: Option<InFlight>,
    pub(super) pulse: Option<StreamPulse>,
}

impl EventStream {
    pub(super) fn new(events: Pin<Box<dyn Events>>, kind: Kind) -> Self {
        Self {
            events: Some(events),
            kind,
            keep_alive: None,
            silence: None,
            deadline: None,
            held: Held::default(),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Gives the stream its place in the house once the edge knows it.
    pub(super) fn settle(
        self: Pin<&mut Self>,
        held: Held,
        keep_alive: Duration,
        deadline: Option<Instant>,
    ) {
        let mut this = self.project();
        *this.held = held;
        *this.keep_alive = Some(keep_alive);
        this.silence.set(Some(sleep(keep_alive)));
        this.deadline
            .set(deadline.map(|deadline| sleep_until(deadline.into())));
    }

    pub(super) fn poll_chunk(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Aborted>>> {
        let mut this = self.project();
        if let Some(pulse) = &this.held.pulse {
            pulse.taken();
        }
        let Some(events) = this.events.as_mut() else {
            return Poll::Ready(None);
        };
        let over = this.deadline.as_mut().as_pin_mut();
        let polled = match over.is_some_and(|timer| timer.poll(cx).is_ready()) {
            true => None,
            false => catch_unwind(AssertUnwindSafe(|| events.as_mut().poll_next(cx))).ok(),
        };
        let Some(polled) = polled else {
            *this.events = None;
            return Poll::Ready(Some(Err(Aborted)));
        };
        let chunk = match polled {
            Poll::Ready(None) => {
                *this.events = None;
                *this.held = Held::default();
                return Poll::Ready(None);
            }
            Poll::Ready(Some(event)) => event,
            Poll::Pending => {
                let silent = this.silence.as_mut().as_pin_mut();
                if !silent.is_some_and(|timer| timer.poll(cx).is_ready()) {
                    return Poll::Pending;
                }
                Bytes::from_static(COMMENT)
            }
        };
        if let (Some(timer), Some(keep_alive)) = (this.silence.as_pin_mut(), this.keep_alive) {
            timer.reset(tokio::time::Instant::now() + *keep_alive);
        }
        if let Some(pulse) = &this.held.pulse {
            pulse.given();
        }
        Poll::Ready(Some(Ok(chunk)))
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// HTTP-S23: a comment, which readers skip; the empty line lets naive ones skip it too.
const COMMENT: &[u8] = b":\n\n";

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;

    use super::*;
    use crate::edge::clock;

    struct Endless;

    impl Events for Endless {
        fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
            Poll::Ready(Some(Bytes::from_static(b"more")))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_never_pauses_ends_at_its_deadline_too() {
        let mut stream = pin!(EventStream::new(Box::pin(Endless), Kind::Call));
        let second = Duration::from_secs(1);
        let deadline = clock::now() + 3 * second;
        stream
            .as_mut()
            .settle(Held::default(), second, Some(deadline));
        for _ in 0..3 {
            let chunk = poll_fn(|cx| stream.as_mut().poll_chunk(cx)).await;
            assert_eq!(chunk.unwrap().unwrap(), "more");
            tokio::time::advance(second).await;
        }
        let end = poll_fn(|cx| stream.as_mut().poll_chunk(cx)).await;
        assert!(end.unwrap().is_err());
        let after = poll_fn(|cx| stream.as_mut().poll_chunk(cx)).await;
        assert!(after.is_none());
    }
}
