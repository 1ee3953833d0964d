//! The rest of a request body that is not going to be served.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::{Duration, Instant};

use bytes::Buf;
use http::Version;
use http::header::EXPECT;
use http::request::Parts;
use http_body::Body;

use super::head_summary::HeadSummary;
use crate::guard::with_deadline;

/// Effect of an unread request body on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leftover {
    /// HTTP/2: the unread stream is reset by itself.
    Harmless,
    /// HTTP/1: the next request comes after the body, if the body is read.
    InTheWay,
    /// HTTP/1: the client waits for our leave to send the body.
    NotSent,
}

impl Leftover {
    pub(super) fn of(head: &Parts, summary: &HeadSummary) -> Self {
        match head.version {
            Version::HTTP_2 | Version::HTTP_3 => Self::Harmless,
            _ if summary.has_no_expectation => Self::InTheWay,
            _ if head.headers.contains_key(EXPECT) => Self::NotSent,
            _ => Self::InTheWay,
        }
    }

    /// Gets an unread body out of the way; `false` if the connection must end.
    pub(super) async fn clear<B: Body>(self, body: Pin<&mut B>, now: Instant) -> bool {
        match self {
            Self::Harmless => true,
            Self::InTheWay => discard(body, now).await,
            Self::NotSent => false,
        }
    }
}

/// Reads a body and forgets it, if it is short and comes soon; `true` at its
/// end.
async fn discard<B: Body>(mut body: Pin<&mut B>, now: Instant) -> bool {
    if body.size_hint().lower() > MOST {
        return false;
    }
    let reading = async {
        let mut left = MOST;
        while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            let Ok(frame) = frame else {
                return false;
            };
            let size = frame.data_ref().map_or(0, Buf::remaining) as u64;
            match left.checked_sub(size) {
                Some(rest) => left = rest,
                None => return false,
            }
        }
        true
    };
    with_deadline(now + PATIENCE, reading)
        .await
        .unwrap_or(false)
}

/// Bytes that are read for nothing: nearly every call has fewer, and a new
/// connection costs more.
const MOST: u64 = 64 << 10;

/// Time for a body that is read for nothing. It was sent together with its
/// head, as a rule.
const PATIENCE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::pin;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use http_body::Frame;

    use super::*;
    use crate::clock;

    /// Pieces of a size each; then nothing more, or the end.
    struct Pieces(VecDeque<usize>, bool);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            match self.0.pop_front() {
                Some(size) => Poll::Ready(Some(Ok(Frame::data(vec![0; size].into())))),
                None if self.1 => Poll::Ready(None),
                None => Poll::Pending,
            }
        }
    }

    async fn check(pieces: &[usize], ends: bool, expected: bool) {
        let body = pin!(Pieces(pieces.iter().copied().collect(), ends));
        assert_eq!(discard(body, clock::now()).await, expected, "{pieces:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_body_is_read_to_its_end_and_a_long_or_slow_one_is_not() {
        check(&[], true, true).await;
        check(&[1 << 10, 63 << 10], true, true).await;
        check(&[1 << 10, 63 << 10, 1], true, false).await;
        check(&[100], false, false).await;
    }
}
