//! Line framing: one message per line, as on stdio.

use memchr::memchr;
use thiserror::Error;

/// Splits a stream that arrives in chunks into lines.
///
/// Holds at most one unfinished line between two chunks, never more than the
/// limit. The chunk boundaries do not change the result.
///
/// # Examples
///
/// ```
/// use sterna_protocol::lines::LineReader;
///
/// let mut reader = LineReader::new(1024);
/// let mut chunk = &b"{\"a\":1}\n{\"b\""[..];
/// assert_eq!(reader.read(&mut chunk)?, Some(&br#"{"a":1}"#[..]));
/// assert_eq!(reader.read(&mut chunk)?, None);
/// let mut chunk = &b":2}\n"[..];
/// assert_eq!(reader.read(&mut chunk)?, Some(&br#"{"b":2}"#[..]));
/// # Ok::<(), sterna_protocol::lines::LineTooLong>(())
/// ```
#[derive(Clone, Debug)]
pub struct LineReader {
    max_line: usize,
    held: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// `held` is the beginning of a line.
    Holding,
    /// `held` has been returned and is cleared on the next read.
    HandedOut,
    /// The line was too long and is skipped up to its end.
    Skipping,
}

impl LineReader {
    /// Creates a reader of lines of at most `max_line` bytes.
    pub fn new(max_line: usize) -> Self {
        Self {
            max_line,
            held: Vec::new(),
            state: State::Holding,
        }
    }

    /// Reads from `chunk` and removes from it the bytes that were read.
    ///
    /// The line comes without its line break and is never blank. `None` means
    /// that the chunk is used up; call again with the next one.
    ///
    /// # Errors
    ///
    /// The line is longer than the limit. It is skipped; the next read
    /// continues after it.
    pub fn read<'r, 'c: 'r>(
        &'r mut self,
        chunk: &mut &'c [u8],
    ) -> Result<Option<&'r [u8]>, LineTooLong> {
        if self.state == State::HandedOut {
            self.held.clear();
            self.state = State::Holding;
        }
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            *chunk = rest.get(1..).unwrap_or_default();
            if self.state == State::Skipping {
                self.state = State::Holding;
            } else if self.held.is_empty() {
                if line.len() > self.max_line {
                    return Err(LineTooLong);
                }
                if !is_blank(line) {
                    return Ok(Some(without_cr(line)));
                }
            } else {
                if !self.hold(line) {
                    return Err(LineTooLong);
                }
                if !is_blank(&self.held) {
                    self.state = State::HandedOut;
                    return Ok(Some(without_cr(&self.held)));
                }
                self.held.clear();
            }
        }
        let rest = std::mem::take(chunk);
        if self.state == State::Holding && !self.hold(rest) {
            self.state = State::Skipping;
            return Err(LineTooLong);
        }
        Ok(None)
    }

    /// Bytes after the last line break.
    ///
    /// At the end of a stream: a message that was cut off, or the last message
    /// of a sender that does not end its last line.
    pub fn rest(&self) -> &[u8] {
        match self.state {
            State::Holding => &self.held,
            State::HandedOut | State::Skipping => &[],
        }
    }

    /// Appends to the held line. Clears it and returns false if it gets too
    /// long.
    fn hold(&mut self, part: &[u8]) -> bool {
        let fits = part.len() <= self.max_line.saturating_sub(self.held.len());
        if fits {
            self.held.extend_from_slice(part);
        } else {
            self.held.clear();
        }
        fits
    }
}

/// Appends one line to `buffer`; `message` writes its text.
///
/// Line breaks between the tokens of a forwarded message become spaces.
///
/// # Errors
///
/// `message` failed; the buffer is unchanged.
///
/// # Examples
///
/// ```
/// use sterna_protocol::jsonrpc::Request;
/// use sterna_protocol::lines;
///
/// let mut buffer = Vec::new();
/// let ping = Request::new(1.into(), "ping", None::<()>);
/// lines::write(&mut buffer, |line| ping.encode(line))?;
/// assert_eq!(buffer, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn write<E>(
    buffer: &mut Vec<u8>,
    message: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = buffer.len();
    let written = message(buffer);
    match written {
        Ok(()) => {
            // STDIO-B1: JSON has line breaks between tokens only.
            for byte in &mut buffer[start..] {
                if matches!(byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
            buffer.push(b'\n');
        }
        Err(_) => buffer.truncate(start),
    }
    written
}

/// A line longer than the limit of its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a line is longer than the limit")]
#[non_exhaustive]
pub struct LineTooLong;

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
