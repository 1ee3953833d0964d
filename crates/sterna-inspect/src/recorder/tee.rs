//! A body that is passed on unchanged while its copy is read.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use sterna_client::BoxError;

use super::recordings::Tap;

/// A body on its way. Its frames are not changed, joined or held back.
pub(super) struct Tee<B> {
    inner: Pin<Box<B>>,
    tap: Tap,
}

impl<B: Body<Data = Bytes, Error = BoxError>> Tee<B> {
    pub(super) fn new(inner: B, mut tap: Tap) -> Self {
        // A body that is empty is not polled for its end.
        if inner.is_end_stream() {
            tap.ended();
        }
        Self {
            inner: Box::pin(inner),
            tap,
        }
    }
}

impl<B: Body<Data = Bytes, Error = BoxError>> Body for Tee<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(self.inner.as_mut().poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.tap.saw(data);
                }
                // A body of known length has no further frame.
                if self.inner.is_end_stream() {
                    self.tap.ended();
                }
            }
            Some(Err(error)) => self.tap.broke(&error.to_string()),
            None => self.tap.ended(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
