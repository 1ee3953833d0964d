//! Response bodies: bytes that are there, or a call that still runs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep, sleep_until};

use super::budget::{Budget, Part, Reservation};
use super::clock;
use super::monitor::{InFlight, StreamMonitor};
use super::slots::Slot;
use super::unread::{PIECE, Pieces};

/// The body of an answer.
///
/// Either bytes that are all there, or a stream that owns the call behind it:
/// the connection polls the body, the body polls the call, and dropping the
/// body cancels it (CANCEL-S3). No task and no channel stands between them.
pub struct ResponseBody(Inner);

enum Inner {
    Pieces(Box<Pieces>),
    Whole(Bytes),
    Stream(Pin<Box<EventStream>>),
}

impl ResponseBody {
    /// No body.
    #[must_use]
    pub const fn empty() -> Self {
        Self(Inner::Whole(Bytes::new()))
    }

    /// A body that is all there.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Inner::Whole(bytes.into()))
    }

    /// The rest of a call that has begun to speak. It keeps the call's place
    /// among the running ones and its deadline.
    pub fn events(events: impl Events) -> Self {
        Self::stream(events, Kind::Call)
    }

    /// A stream that waits for things to happen, for as long as the caller's
    /// credential is good. It counts as a listener, not as a running call.
    pub fn listening(events: impl Events) -> Self {
        Self::stream(events, Kind::Listener)
    }

    fn stream(events: impl Events, kind: Kind) -> Self {
        let stream = EventStream::new(Box::pin(events), kind);
        Self(Inner::Stream(Box::pin(stream)))
    }

    pub(super) fn as_stream(&mut self) -> Option<Pin<&mut EventStream>> {
        match &mut self.0 {
            Inner::Pieces(_) | Inner::Whole(_) => None,
            Inner::Stream(stream) => Some(stream.as_mut()),
        }
    }

    /// The size of a body that is all there; `None` for a stream.
    pub(super) fn whole_size(&self) -> Option<usize> {
        match &self.0 {
            Inner::Pieces(pieces) => Some(pieces.len()),
            Inner::Whole(bytes) => Some(bytes.len()),
            Inner::Stream(_) => None,
        }
    }

    /// Charges a body that is all there until it has been read, and watches how
    /// it is.
    pub(super) fn watch(&mut self, hold: Option<Reservation>, monitor: Option<StreamMonitor>) {
        if let Inner::Whole(bytes) = &mut self.0 {
            let pieces = Pieces::new(std::mem::take(bytes), hold, monitor);
            self.0 = Inner::Pieces(Box::new(pieces));
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        match &mut self.0 {
            Inner::Pieces(pieces) => Poll::Ready(pieces.next().map(|piece| Ok(Frame::data(piece)))),
            Inner::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Inner::Stream(stream) => stream.as_mut().poll_chunk(cx).map_ok(Frame::data),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.whole_size() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        let size = self.whole_size().map(|size| size as u64);
        size.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole_size() {
            Some(size) => write!(f, "ResponseBody({size} bytes)"),
            None => f.write_str("ResponseBody(stream)"),
        }
    }
}

/// The call behind a stream ended without a last word: it panicked or its time
/// was over. The connection is closed, so that the peer does not take the
/// answer for whole.
#[derive(Debug, thiserror::Error)]
#[error("the call behind this answer was stopped")]
#[non_exhaustive]
pub struct Aborted;

/// The rest of an answer: events as they happen, then the end.
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
        // What is left of a large event.
        rest: Bytes,
        held: Held,
    }
}

/// Values that live as long as a stream.
#[derive(Debug, Default)]
pub(super) struct Held {
    #[expect(dead_code, reason = "kept for what dropping it does")]
    pub(super) slot: Option<Slot>,
    #[expect(dead_code, reason = "kept for what dropping it does")]
    pub(super) in_flight: Option<InFlight>,
    #[expect(dead_code, reason = "kept for what dropping it does")]
    pub(super) room: Option<Reservation>,
    pub(super) monitor: Option<StreamMonitor>,
    /// The budget that large events are charged to.
    pub(super) memory: Option<Arc<Budget>>,
}

impl EventStream {
    pub(super) fn new(events: Pin<Box<dyn Events>>, kind: Kind) -> Self {
        Self {
            events: Some(events),
            kind,
            keep_alive: None,
            silence: None,
            deadline: None,
            rest: Bytes::new(),
            held: Held::default(),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Sets the values that the stream keeps alive, its keep-alive interval and its
    /// deadline.
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
        if !this.rest.is_empty() {
            return Poll::Ready(Some(Ok(this.held.piece(this.rest))));
        }
        if let Some(monitor) = &this.held.monitor {
            monitor.taken();
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
        let Some(chunk) = this.held.charge(chunk) else {
            *this.events = None;
            return Poll::Ready(Some(Err(Aborted)));
        };
        *this.rest = chunk;
        if this.rest.len() > SMALL
            && let Some(monitor) = &this.held.monitor
        {
            monitor.given_of(clock::now());
        }
        Poll::Ready(Some(Ok(this.held.piece(this.rest))))
    }
}

impl Held {
    /// Charges a large event until it has been read; `None` if there is no room
    /// for it. Small ones are bounded by the number of streams.
    fn charge(&self, event: Bytes) -> Option<Bytes> {
        match &self.memory {
            Some(memory) if event.len() > SMALL => {
                let hold = memory.take(Part::Answers, event.len())?;
                Some(hold.keep_for(event, ()))
            }
            _ => Some(event),
        }
    }

    /// Takes as much of `rest` as is given to the connection at once.
    fn piece(&self, rest: &mut Bytes) -> Bytes {
        let Some(monitor) = &self.monitor else {
            return std::mem::take(rest);
        };
        monitor.given();
        rest.split_to(PIECE.min(rest.len()))
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// An answer or an event that is not worth a charge of its own.
pub(super) const SMALL: usize = 8 << 10;

/// HTTP-S23: a comment, which readers skip; the empty line lets naive ones skip it too.
const COMMENT: &[u8] = b":\n\n";

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;

    use http_body_util::BodyExt;

    use super::*;

    struct Panicking(bool);

    impl Events for Panicking {
        fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
            if std::mem::replace(&mut self.0, true) {
                panic!("as told");
            }
            Poll::Ready(Some(Bytes::from_static(b"one")))
        }
    }

    #[tokio::test]
    async fn a_stream_that_panics_ends_in_an_error_and_stays_ended() {
        let mut body = ResponseBody::events(Panicking(false));
        let first = body.frame().await.unwrap().unwrap().into_data();
        assert_eq!(first.unwrap(), "one");
        assert!(body.frame().await.unwrap().is_err());
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn a_whole_body_says_how_long_it_is_and_comes_in_one_piece() {
        let mut body = ResponseBody::whole("seven b");
        assert_eq!(body.size_hint().exact(), Some(7));
        assert!(!body.is_end_stream());
        let piece = body.frame().await.unwrap().unwrap().into_data();
        assert_eq!(piece.unwrap(), "seven b");
        assert!(body.is_end_stream());
        assert!(body.frame().await.is_none());
        assert!(ResponseBody::empty().is_end_stream());
    }

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
