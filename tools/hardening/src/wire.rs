//! A client that speaks HTTP/1.1 letter by letter.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A connection of which nothing is hidden.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// An answer, its head as text.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// Empty for a stream, which has no end.
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }
}

impl Wire {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream,
            unread: Vec::new(),
        })
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Says that nothing more is sent.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    /// The next answer; `None` if the peer hung up instead.
    pub(crate) fn answer(&mut self) -> io::Result<Option<Answer>> {
        let end = loop {
            if let Some(at) = find(&self.unread, b"\r\n\r\n") {
                break at + 4;
            }
            if !self.fill()? {
                return Ok(None);
            }
        };
        let Some(head) = self.take(end)? else {
            return Ok(None);
        };
        let head = String::from_utf8_lossy(&head).into_owned();
        let status = head
            .get(9..12)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        let mut answer = Answer {
            status,
            head,
            body: Vec::new(),
        };
        let length = answer.header("content-length");
        let length = length.and_then(|text| text.parse().ok()).unwrap_or(0);
        let Some(body) = self.take(length)? else {
            return Ok(None);
        };
        answer.body = body;
        Ok(Some(answer))
    }

    /// Waits until the peer begins to answer, and reads no further.
    pub(crate) fn begins(&mut self) -> io::Result<()> {
        self.fill().map(drop)
    }

    /// Waits until the peer hangs up; whatever it says meanwhile is dropped.
    pub(crate) fn closes(&mut self) -> bool {
        let end = now() + PATIENCE;
        // A peer that keeps the connection alive says a word now and then.
        while now() < end {
            self.unread.clear();
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return true,
                Err(_) => return false,
            }
        }
        false
    }

    fn take(&mut self, size: usize) -> io::Result<Option<Vec<u8>>> {
        while self.unread.len() < size {
            if !self.fill()? {
                return Ok(None);
            }
        }
        Ok(Some(self.unread.drain(..size).collect()))
    }

    /// Reads more; false at the end, also when it comes by a reset.
    fn fill(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 8192];
        match self.stream.read(&mut chunk) {
            Ok(size) => {
                self.unread.extend_from_slice(&chunk[..size]);
                Ok(size > 0)
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "this is a client, and it waits")]
    Instant::now()
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

/// Far longer than the server takes for anything, and shorter than the pauses in
/// which a stream says that it is still there: who waits this long has found a
/// connection that nobody ends.
const PATIENCE: Duration = Duration::from_secs(12);
