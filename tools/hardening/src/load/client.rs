//! A client that says what it is told, as fast as it can.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::subject::Subject;

pub(super) struct Client {
    stream: TcpStream,
    unread: Vec<u8>,
}

pub(super) struct Answer {
    pub(super) status: u16,
    /// In lower case.
    pub(super) head: String,
    /// The id of the session that was opened.
    pub(super) session: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn must_be(self, status: u16) -> Result<()> {
        let body = String::from_utf8_lossy(&self.body);
        ensure!(self.status == status, "{} {body}", self.status);
        let message: Value = serde_json::from_slice(&self.body)?;
        ensure!(message.get("result").is_some(), "{body}");
        Ok(())
    }
}

impl Client {
    pub(super) async fn connect(subject: &Subject) -> Result<Self> {
        let stream = TcpStream::connect(subject.address()).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            unread: Vec::new(),
        })
    }

    pub(super) async fn send(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(request).await?)
    }

    pub(super) async fn call(&mut self, request: &[u8]) -> Result<Answer> {
        self.send(request).await?;
        let head = self.read_until(b"\r\n\r\n").await?;
        let head = String::from_utf8(head)?;
        let session = head
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session = session.map(str::to_owned);
        let head = head.to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.context("an answer has a length")?.parse()?;
        while self.unread.len() < length {
            self.fill().await?;
        }
        Ok(Answer {
            status: head.get(9..12).context("there is a status")?.parse()?,
            body: self.unread.drain(..length).collect(),
            head,
            session,
        })
    }

    /// Everything up to `end` and with it.
    pub(super) async fn read_until(&mut self, end: &[u8]) -> Result<Vec<u8>> {
        loop {
            let found = self
                .unread
                .windows(end.len())
                .position(|bytes| bytes == end);
            if let Some(at) = found {
                return Ok(self.unread.drain(..at + end.len()).collect());
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.unread).await?;
        ensure!(read > 0, "the server hung up");
        Ok(())
    }
}
