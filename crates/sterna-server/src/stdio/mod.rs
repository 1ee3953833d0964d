//! MCP over a pair of byte streams, one message per line: standard input and
//! output, above all.
//!
//! A line is decoded once and goes to the same dialects as a POST, without
//! headers. Messages of the server are lines. A session of the older revisions
//! is that of the connection.

mod call;
mod connection;
mod standard;

use std::io;
use std::pin::pin;

use bytes::Bytes;
use sterna_http::{HttpConfig, Shutdown};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::current::CurrentCore;
use connection::Connection;
pub(crate) use standard::{Input, write_standard};
use sterna_protocol::lines::LineReader;

/// Serves one client until `reader` ends or the server is shut down, then
/// drains. `write` writes all lines that come, to their end.
pub(crate) async fn serve<R, W>(
    current: CurrentCore,
    config: &HttpConfig,
    shutdown: Shutdown,
    reader: R,
    write: impl FnOnce(mpsc::Receiver<Bytes>) -> W,
) -> io::Result<()>
where
    R: AsyncRead + Unpin + Send,
    W: Future<Output = io::Result<()>>,
{
    let (lines, waiting) = mpsc::channel(QUEUE);
    let mut writing = pin!(write(waiting));
    let mut reading = pin!(async {
        let mut connection = Connection::new(current, config, shutdown.clone(), lines);
        tokio::select! {
            read = read(reader, config.limits.body_bytes, &mut connection) => read?,
            () = shutdown.begun() => {}
        }
        // Streams that would stay open say their last word.
        shutdown.begin();
        connection.drain(config.timeouts.drain).await;
        io::Result::Ok(())
    });
    let read = tokio::select! {
        read = &mut reading => read,
        // The client does not read any more; running calls are finished all the same.
        written = &mut writing => return reading.await.and(written),
    };
    // A client that does not read must not keep the server from stopping.
    let written = timeout(config.timeouts.write, writing).await;
    written.unwrap_or(Ok(())).and(read)
}

/// Hands every line to the connection, until there are no more.
async fn read(
    mut reader: impl AsyncRead + Unpin,
    max_line: usize,
    connection: &mut Connection,
) -> io::Result<()> {
    let mut lines = LineReader::new(max_line);
    let mut buffer = vec![0; CHUNK];
    loop {
        let length = tokio::select! {
            read = reader.read(&mut buffer) => read?,
            () = connection.reap() => continue,
        };
        if length == 0 {
            // A sender may leave its last line without an end.
            if !lines.rest().iter().all(u8::is_ascii_whitespace) {
                connection.take(lines.rest()).await;
            }
            return Ok(());
        }
        let mut chunk = &buffer[..length];
        loop {
            match lines.read(&mut chunk) {
                Ok(Some(line)) => connection.take(line).await,
                Ok(None) => break,
                Err(_) => connection.too_long().await,
            }
        }
    }
}

/// Writes lines as they come. A client that stops reading fills the queue, and
/// then everything waits for it.
pub(crate) async fn write(
    mut waiting: mpsc::Receiver<Bytes>,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(line) = waiting.recv().await {
        writer.write_all(&line).await?;
        if waiting.is_empty() {
            writer.flush().await?;
        }
    }
    writer.flush().await
}

/// Bytes that are read at once.
const CHUNK: usize = 16 << 10;

/// Lines that may wait for the client to read them.
const QUEUE: usize = 64;
