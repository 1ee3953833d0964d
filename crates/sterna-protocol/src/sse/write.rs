use memchr::{memchr2, memchr2_iter};
use thiserror::Error;

/// Event to send, without its data.
///
/// # Examples
///
/// ```
/// use sterna_protocol::jsonrpc::Notification;
/// use sterna_protocol::sse::Frame;
///
/// let mut buffer = Vec::new();
/// let changed = Notification::new("notifications/tools/list_changed", None::<()>);
/// Frame::new().write(&mut buffer, |data| changed.encode(data))?;
/// assert!(buffer.starts_with(b"data: {") && buffer.ends_with(b"}\n\n"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame<'a> {
    event: Option<&'a str>,
    id: Option<&'a str>,
    retry: Option<u64>,
}

impl<'a> Frame<'a> {
    /// Creates an event of the type `message`, which MCP uses.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the type of the event.
    ///
    /// # Errors
    ///
    /// The type is not one line of text.
    pub fn with_event(self, event: &'a str) -> Result<Self, NotOneLine> {
        let event = Some(one_line(event)?);
        Ok(Self { event, ..self })
    }

    /// Sets an id for a client to resume after. Only revisions before
    /// 2026-07-28 resume streams.
    ///
    /// # Errors
    ///
    /// The id is not one line of text.
    pub fn with_id(self, id: &'a str) -> Result<Self, NotOneLine> {
        let id = Some(one_line(id)?);
        Ok(Self { id, ..self })
    }

    /// Asks the client to wait `retry` milliseconds before reconnecting.
    #[must_use]
    pub fn with_retry(self, retry: u64) -> Self {
        let retry = Some(retry);
        Self { retry, ..self }
    }

    /// Appends the event to `buffer`; `data` writes its data.
    ///
    /// Line breaks in the data are kept; each arrives as LF.
    ///
    /// # Errors
    ///
    /// `data` failed; the buffer is unchanged.
    pub fn write<E>(
        &self,
        buffer: &mut Vec<u8>,
        data: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = buffer.len();
        self.write_head(buffer);
        buffer.extend_from_slice(DATA);
        let data_start = buffer.len();
        let written = data(buffer);
        match written {
            Ok(()) => {
                split_lines(buffer, data_start);
                buffer.extend_from_slice(b"\n\n");
            }
            Err(_) => buffer.truncate(start),
        }
        written
    }

    fn write_head(&self, buffer: &mut Vec<u8>) {
        let retry = self.retry.map(|retry| retry.to_string());
        let fields = [
            ("event: ", self.event),
            ("id: ", self.id),
            ("retry: ", retry.as_deref()),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                for part in [name, value, "\n"] {
                    buffer.extend_from_slice(part.as_bytes());
                }
            }
        }
    }
}

/// Appends a comment, which readers skip, to keep an idle connection open.
pub fn write_keep_alive(buffer: &mut Vec<u8>) {
    buffer.extend_from_slice(b":\n");
}

/// Text with a line break or a NUL, which a field of an event cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a line break or a NUL in a field of one line")]
#[non_exhaustive]
pub struct NotOneLine;

fn one_line(text: &str) -> Result<&str, NotOneLine> {
    if text.contains(['\n', '\r', '\0']) {
        Err(NotOneLine)
    } else {
        Ok(text)
    }
}

/// Writes each line of the data as a field of its own. Compact JSON is one
/// line; forwarded text may have more.
fn split_lines(buffer: &mut Vec<u8>, start: usize) {
    if memchr2(b'\n', b'\r', &buffer[start..]).is_none() {
        return;
    }
    let data = buffer.split_off(start);
    let mut line_start = 0;
    for end in memchr2_iter(b'\n', b'\r', &data) {
        // The CR of this CR LF has ended the line.
        if end > 0 && data[end] == b'\n' && data[end - 1] == b'\r' {
            line_start = end + 1;
            continue;
        }
        buffer.extend_from_slice(&data[line_start..end]);
        buffer.push(b'\n');
        buffer.extend_from_slice(DATA);
        line_start = end + 1;
    }
    buffer.extend_from_slice(&data[line_start..]);
}

const DATA: &[u8] = b"data: ";
