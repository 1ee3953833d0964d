//! Standard input and output, on threads of their own.
//!
//! A read of standard input ends only with the next byte, and a runtime waits for
//! its own threads: with tokio's standard input, a process that was told to stop
//! would wait for its client to send something. The process does not wait for
//! these threads.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::{mpsc, oneshot};

/// Standard input as an async reader.
pub(crate) struct Input {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    /// Rest of the last chunk.
    chunk: Bytes,
}

impl Input {
    /// Reads from here on; what it has read and not handed out is lost when it
    /// is dropped.
    pub(crate) fn standard() -> Self {
        let (sender, chunks) = mpsc::channel(1);
        let thread = thread::Builder::new().name("stdin".to_owned());
        let failed = sender.clone();
        if let Err(error) = thread.spawn(move || read(&sender)) {
            // There is room for one.
            let _ = failed.try_send(Err(error));
        }
        Self {
            chunks,
            chunk: Bytes::new(),
        }
    }
}

fn read(chunks: &mpsc::Sender<io::Result<Bytes>>) {
    let mut input = io::stdin().lock();
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = match input.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => Ok(Bytes::copy_from_slice(&buffer[..length])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let broken = chunk.is_err();
        // The receiver is gone once the server has stopped.
        if chunks.blocking_send(chunk).is_err() || broken {
            return;
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.chunk.is_empty() {
            match ready!(self.chunks.poll_recv(cx)) {
                None => return Poll::Ready(Ok(())),
                Some(chunk) => self.chunk = chunk?,
            }
        }
        let length = self.chunk.len().min(buffer.remaining());
        buffer.put_slice(&self.chunk[..length]);
        self.chunk.advance(length);
        Poll::Ready(Ok(()))
    }
}

/// Writes lines to standard output as they come.
pub(crate) async fn write_standard(mut lines: mpsc::Receiver<Bytes>) -> io::Result<()> {
    let (done, written) = oneshot::channel();
    let thread = thread::Builder::new().name("stdout".to_owned());
    thread.spawn(move || {
        // The receiver is gone once the server has stopped.
        let _ = done.send(write(&mut lines));
    })?;
    // A thread that panics has been heard of.
    written.await.unwrap_or(Ok(()))
}

fn write(lines: &mut mpsc::Receiver<Bytes>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    while let Some(line) = lines.blocking_recv() {
        output.write_all(&line)?;
        if lines.is_empty() {
            output.flush()?;
        }
    }
    output.flush()
}

/// Bytes that are read at once.
const CHUNK: usize = 16 << 10;
