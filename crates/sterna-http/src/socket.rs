//! A TCP stream that notices when its peer stops reading, and closes kindly.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::monitor::ConnectionMonitor;

pub(super) struct Socket {
    stream: TokioIo<TcpStream>,
    monitor: Arc<ConnectionMonitor>,
    lingering: Option<Pin<Box<Sleep>>>,
    discarded: usize,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, monitor: Arc<ConnectionMonitor>) -> Self {
        Self {
            stream: TokioIo::new(stream),
            monitor,
            lingering: None,
            discarded: 0,
        }
    }

    fn note<T>(&self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match &polled {
            Poll::Pending => self.monitor.blocked(),
            Poll::Ready(_) => self.monitor.written(),
        }
        polled
    }

    fn stream(&mut self) -> Pin<&mut TokioIo<TcpStream>> {
        Pin::new(&mut self.stream)
    }
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = self.stream().poll_read(cx, buffer);
        if polled.is_ready() {
            self.monitor.read();
        }
        polled
    }
}

impl Write for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = self.stream().poll_write(cx, bytes);
        self.note(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = self.stream().poll_write_vectored(cx, slices);
        self.note(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(cx)
    }

    /// Says that no more comes and, if the peer is still sending, reads on for
    /// a moment.
    ///
    /// Closing a socket with unread bytes makes the kernel reset the
    /// connection, and the peer loses the answer it has not read yet: a refusal
    /// of a large body would never be seen.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(self.stream().poll_shutdown(cx))?;
        }
        let mut scratch = [MaybeUninit::uninit(); 4096];
        while self.discarded < DISCARD {
            let mut buffer = ReadBuf::uninit(&mut scratch);
            match self.stream().poll_read(cx, buffer.unfilled()) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.discarded += buffer.filled().len();
                    self.monitor.expect_more();
                }
                Poll::Pending if self.monitor.expects_more() => {
                    let timer = self
                        .lingering
                        .get_or_insert_with(|| Box::pin(sleep(LINGER)));
                    return timer.as_mut().poll(cx).map(Ok);
                }
                Poll::Pending | Poll::Ready(_) => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Long enough for a round trip around the world and for the peer to notice.
const LINGER: Duration = Duration::from_secs(2);

/// A peer that goes on sending this much has not listened to our answer.
const DISCARD: usize = 32 << 20;
