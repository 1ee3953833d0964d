//! A client that speaks HTTP/1.1 letter by letter.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// An answer, its head as text.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Wire {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(address).await.unwrap(),
            unread: Vec::new(),
        }
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Sends as much as the peer takes; it may well hang up meanwhile.
    pub(crate) async fn try_send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// Sends a call with `body` and reads its answer.
    pub(crate) async fn call(&mut self, body: &str) -> Answer {
        self.call_with("", body).await
    }

    /// The same with more header lines, each ended by CRLF.
    pub(crate) async fn call_with(&mut self, lines: &str, body: &str) -> Answer {
        self.send(&post(lines, body)).await;
        self.answer().await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            .await;
        self.answer().await
    }

    /// Reads one whole answer that says how long it is.
    pub(crate) async fn answer(&mut self) -> Answer {
        let head = self.head().await;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer {
            status,
            head,
            body: String::new(),
        };
        let length = answer.header("content-length").unwrap_or("0").parse();
        let body = self.take(length.unwrap()).await;
        answer.body = String::from_utf8(body).unwrap();
        answer
    }

    /// Reads the head of an answer.
    pub(crate) async fn head(&mut self) -> String {
        let end = loop {
            if let Some(at) = find(&self.unread, b"\r\n\r\n") {
                break at + 4;
            }
            assert!(self.fill().await, "the peer hung up before an answer");
        };
        String::from_utf8(self.take(end).await).unwrap()
    }

    /// Reads the next chunk of a chunked body; an empty one is the end.
    pub(crate) async fn chunk(&mut self) -> String {
        let end = loop {
            if let Some(at) = find(&self.unread, b"\r\n") {
                break at + 2;
            }
            assert!(self.fill().await, "the peer hung up between two chunks");
        };
        let size = String::from_utf8(self.take(end).await).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let chunk = self.take(size + 2).await;
        String::from_utf8(chunk[..size].to_vec()).unwrap()
    }

    /// Returns whether the peer sends nothing more and closes.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.unread.is_empty() && !self.fill().await
    }

    /// Everything until the peer hangs up, also by a reset.
    pub(crate) async fn rest(&mut self) -> String {
        while self.fill().await {}
        String::from_utf8(std::mem::take(&mut self.unread)).unwrap()
    }

    async fn take(&mut self, size: usize) -> Vec<u8> {
        while self.unread.len() < size {
            assert!(self.fill().await, "the peer hung up inside an answer");
        }
        self.unread.drain(..size).collect()
    }

    async fn fill(&mut self) -> bool {
        let read = self.stream.read_buf(&mut self.unread).await;
        read.is_ok_and(|count| count > 0)
    }
}

/// A call as clients send it.
pub(crate) fn post(lines: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\n\
         Host: localhost\r\n\
         Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n\
         {lines}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}
