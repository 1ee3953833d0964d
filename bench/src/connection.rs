//! One keep-alive connection that sends a request and reads its whole answer.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    body: Vec<u8>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(64 << 10),
            body: Vec::new(),
        })
    }

    /// Sends `request` and returns the body of a 200.
    pub async fn send(&mut self, request: &[u8]) -> Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let text = std::str::from_utf8(&self.buffer[..head])?.to_ascii_lowercase();
        if text.contains("transfer-encoding: chunked") {
            self.chunks(head).await?;
        } else {
            let length = text.split_once("content-length:").context("a length")?.1;
            let length: usize = length.lines().next().unwrap_or_default().trim().parse()?;
            while self.buffer.len() < head + length {
                self.more().await?;
            }
            self.body.clear();
            self.body
                .extend_from_slice(&self.buffer[head..head + length]);
        }
        let status = text.lines().next().unwrap_or_default();
        ensure!(
            status.starts_with("http/1.1 200"),
            "{status}: {}",
            String::from_utf8_lossy(&self.body)
        );
        Ok(&self.body)
    }

    /// Sends `request` and waits for the head of an answer that goes on.
    pub async fn open_stream(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        while find(&self.buffer, b"\r\n\r\n").is_none() {
            self.more().await?;
        }
        ensure!(self.buffer.starts_with(b"HTTP/1.1 200"), "no stream");
        Ok(())
    }

    async fn chunks(&mut self, mut at: usize) -> Result<()> {
        self.body.clear();
        loop {
            let line = loop {
                if let Some(end) = find(&self.buffer[at..], b"\r\n") {
                    break end;
                }
                self.more().await?;
            };
            let size = std::str::from_utf8(&self.buffer[at..at + line])?;
            let size = usize::from_str_radix(size.trim(), 16)?;
            let start = at + line + 2;
            while self.buffer.len() < start + size + 2 {
                self.more().await?;
            }
            if size == 0 {
                return Ok(());
            }
            self.body
                .extend_from_slice(&self.buffer[start..start + size]);
            at = start + size + 2;
        }
    }

    async fn more(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
