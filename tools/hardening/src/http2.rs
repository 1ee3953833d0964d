//! A client that speaks HTTP/2 frame by frame, and leaves no room for answers.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::good::Post;

/// A connection on which not a byte of any answer may be sent.
#[derive(Debug)]
pub(crate) struct Shut {
    stream: TcpStream,
    next: u32,
}

impl Shut {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")?;
        let no_window = [INITIAL_WINDOW_SIZE.to_be_bytes().as_slice(), &[0; 4]].concat();
        write_frame(&mut stream, SETTINGS, 0, 0, &no_window)?;
        Ok(Self { stream, next: 1 })
    }

    /// Begins a request and does not wait for its answer.
    pub(crate) fn post(&mut self, post: &Post) -> io::Result<()> {
        let mut fields = vec![
            (":method", "POST"),
            (":scheme", "http"),
            (":path", "/mcp"),
            (":authority", "localhost"),
        ];
        let headers = post.headers.iter();
        let headers = headers.map(|(name, value)| (name.as_str(), value.as_str()));
        fields.extend(headers.filter(|(name, _)| *name != "host"));
        let block: Vec<u8> = fields.iter().flat_map(literal).collect();
        let stream = self.next;
        self.next += 2;
        write_frame(&mut self.stream, HEADERS, END_HEADERS, stream, &block)?;
        write_frame(&mut self.stream, DATA, END_STREAM, stream, &post.body)
    }

    /// Reads until the peer hangs up; how long that took, or `None` if it was
    /// still there after `patience`.
    pub(crate) fn closes(&mut self, patience: Duration) -> io::Result<Option<Duration>> {
        let start = now();
        self.stream.set_read_timeout(Some(patience))?;
        let mut scratch = [0; 8192];
        while start.elapsed() < patience {
            match self.stream.read(&mut scratch) {
                Ok(0) => return Ok(Some(start.elapsed())),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return Ok(Some(start.elapsed()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

fn write_frame(
    to: &mut impl Write,
    kind: u8,
    flags: u8,
    stream: u32,
    payload: &[u8],
) -> io::Result<()> {
    let length = u32::try_from(payload.len())
        .unwrap_or(u32::MAX)
        .to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    to.write_all(&frame)
}

/// A header that is written out, without any table.
fn literal((name, value): &(&str, &str)) -> Vec<u8> {
    let text = |text: &str| {
        // Lengths below 127 are one byte; nothing here is longer.
        let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
        [[length].as_slice(), text.as_bytes()].concat()
    };
    [vec![0], text(name), text(value)].concat()
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "this is a client, and it waits")]
    Instant::now()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const INITIAL_WINDOW_SIZE: u16 = 4;
