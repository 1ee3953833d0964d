//! The body of an answer: bytes that are there, or a call that still runs.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::stream::{EventStream, Events, Kind};

/// The body of an answer.
///
/// Either bytes that are all there, or a stream that owns the call behind it:
/// the connection polls the body, the body polls the call, and dropping the
/// body cancels it (CANCEL-S3). No task and no channel stands between them.
pub struct EdgeBody(Inner);

enum Inner {
    Whole(Bytes),
    Stream(Pin<Box<EventStream>>),
}

impl EdgeBody {
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
            Inner::Whole(_) => None,
            Inner::Stream(stream) => Some(stream.as_mut()),
        }
    }
}

impl Body for EdgeBody {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        match &mut self.0 {
            Inner::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Inner::Stream(stream) => stream.as_mut().poll_chunk(cx).map_ok(Frame::data),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Inner::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Stream(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for EdgeBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Whole(bytes) => write!(f, "EdgeBody({} bytes)", bytes.len()),
            Inner::Stream(_) => f.write_str("EdgeBody(stream)"),
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

#[cfg(test)]
mod tests {
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
        let mut body = EdgeBody::events(Panicking(false));
        let first = body.frame().await.unwrap().unwrap().into_data();
        assert_eq!(first.unwrap(), "one");
        assert!(body.frame().await.unwrap().is_err());
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn a_whole_body_says_how_long_it_is_and_comes_in_one_piece() {
        let mut body = EdgeBody::whole("seven b");
        assert_eq!(body.size_hint().exact(), Some(7));
        assert!(!body.is_end_stream());
        let piece = body.frame().await.unwrap().unwrap().into_data();
        assert_eq!(piece.unwrap(), "seven b");
        assert!(body.is_end_stream());
        assert!(body.frame().await.is_none());
        assert!(EdgeBody::empty().is_end_stream());
    }
}
