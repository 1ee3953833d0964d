use std::borrow::Cow;
use std::mem;

use memchr::memchr2;
use thiserror::Error;

/// Splits a stream that arrives in chunks into events.
///
/// Holds at most one unfinished event between two chunks, never more than the
/// limit. The chunk boundaries do not change the result.
///
/// # Examples
///
/// ```
/// use sterna_protocol::sse::EventReader;
///
/// let mut reader = EventReader::new(1024);
/// let mut chunk = &b"data: {\"a\":1}\n\nda"[..];
/// let event = reader.read(&mut chunk)?.expect("a blank line ends an event");
/// assert_eq!(event.data, br#"{"a":1}"#);
/// assert_eq!(reader.read(&mut chunk)?, None);
/// # Ok::<(), sterna_protocol::sse::EventTooLong>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventReader {
    max_event: usize,
    /// The unfinished line.
    line: Vec<u8>,
    /// True after a CR: an LF that follows belongs to the same line break.
    after_cr: bool,
    /// True before the first line, which may begin with a byte order mark.
    at_start: bool,
    event: Cow<'static, str>,
    data: Option<Vec<u8>>,
    id: Option<String>,
    last_event_id: String,
    /// Id before the latest event.
    previous_event_id: String,
    retry: Option<u64>,
    failed: bool,
}

impl EventReader {
    /// Creates a reader that fails if one event, including its field names,
    /// takes more than `max_event` bytes.
    pub fn new(max_event: usize) -> Self {
        Self {
            max_event,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            event: MESSAGE,
            data: None,
            id: None,
            last_event_id: String::new(),
            previous_event_id: String::new(),
            retry: None,
            failed: false,
        }
    }

    /// Creates a reader of a stream that is resumed after the event `id`.
    pub fn after(max_event: usize, id: impl Into<String>) -> Self {
        Self {
            last_event_id: id.into(),
            ..Self::new(max_event)
        }
    }

    /// Reads from `chunk` and removes from it the bytes that were read.
    ///
    /// `None` means that the chunk is used up; call again with the next one.
    ///
    /// # Errors
    ///
    /// The event is longer than the limit. Every later read fails too; close
    /// the stream.
    pub fn read(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>, EventTooLong> {
        if self.failed {
            return Err(EventTooLong);
        }
        while !chunk.is_empty() {
            if mem::take(&mut self.after_cr)
                && let Some(rest) = chunk.strip_prefix(b"\n")
            {
                *chunk = rest;
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', chunk) else {
                self.hold(chunk)?;
                *chunk = &[];
                break;
            };
            let (line, rest) = chunk.split_at(end);
            self.after_cr = rest.first() == Some(&b'\r');
            *chunk = rest.get(1..).unwrap_or_default();
            if let Some(event) = self.end_line(line)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The id of the last complete event, to resume after.
    pub fn last_event_id(&self) -> Option<&str> {
        Some(&*self.last_event_id).filter(|id| !id.is_empty())
    }

    /// The id that was the last one before the latest event, to resume so that
    /// this event is sent again.
    pub fn previous_event_id(&self) -> Option<&str> {
        Some(&*self.previous_event_id).filter(|id| !id.is_empty())
    }

    /// Returns true if a part of the next event has been read.
    pub fn is_inside_event(&self) -> bool {
        !self.line.is_empty() || self.data.is_some()
    }

    /// The milliseconds to wait before reconnecting, if the server set them.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    fn hold(&mut self, part: &[u8]) -> Result<(), EventTooLong> {
        self.make_room(part.len())?;
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn make_room(&mut self, more: usize) -> Result<(), EventTooLong> {
        let data = self.data.as_ref().map_or(0, Vec::len);
        let id = self.id.as_ref().map_or(0, String::len);
        let event = match &self.event {
            Cow::Borrowed(_) => 0,
            Cow::Owned(event) => event.len(),
        };
        let held = data + id + event + self.line.len();
        self.failed = more > self.max_event.saturating_sub(held);
        if self.failed {
            Err(EventTooLong)
        } else {
            Ok(())
        }
    }

    fn end_line(&mut self, end: &[u8]) -> Result<Option<Event>, EventTooLong> {
        if self.line.is_empty() {
            self.make_room(end.len())?;
            return Ok(self.take_line(end));
        }
        self.hold(end)?;
        let mut line = mem::take(&mut self.line);
        let event = self.take_line(&line);
        line.clear();
        self.line = line;
        Ok(event)
    }

    fn take_line(&mut self, mut line: &[u8]) -> Option<Event> {
        if mem::take(&mut self.at_start) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let (field, value) = line.split_at(colon);
                let value = value.get(1..).unwrap_or_default();
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        self.take_field(field, value);
        None
    }

    fn take_field(&mut self, field: &[u8], value: &[u8]) {
        match field {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"event" if value == MESSAGE.as_bytes() || value.is_empty() => self.event = MESSAGE,
            b"event" => self.event = Cow::Owned(String::from_utf8_lossy(value).into_owned()),
            b"id" if !value.contains(&0) => {
                self.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" => self.retry = digits(value).or(self.retry),
            // A comment has an empty name. Unknown fields are ignored too.
            _ => {}
        }
    }

    /// Ends an event at a blank line. Without data there is no event, but its
    /// id counts.
    fn dispatch(&mut self) -> Option<Event> {
        let id = self.id.take();
        let event = mem::replace(&mut self.event, MESSAGE);
        let data = self.data.take();
        if data.is_some() {
            self.previous_event_id.clone_from(&self.last_event_id);
        }
        if let Some(id) = id {
            self.last_event_id = id;
        }
        Some(Event { event, data: data? })
    }
}

/// Event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Type of the event; `message` by default.
    pub event: Cow<'static, str>,
    /// Data. Usually a message, whose decoder checks the UTF-8.
    pub data: Vec<u8>,
}

/// An event longer than the limit of its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an event is longer than the limit")]
#[non_exhaustive]
pub struct EventTooLong;

const MESSAGE: Cow<'static, str> = Cow::Borrowed("message");
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn digits(value: &[u8]) -> Option<u64> {
    let plain = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = str::from_utf8(value).ok().filter(|_| plain)?;
    text.parse().ok()
}
