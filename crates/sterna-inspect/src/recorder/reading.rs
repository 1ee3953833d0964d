//! Messages in bytes that pass by, read with bounds.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use sterna_protocol::sse::EventReader;

/// Reads the messages of one body. It never fails: what it cannot read it
/// leaves out, and the bytes go on all the same.
#[derive(Debug)]
pub(super) enum Reading {
    /// One document.
    Document(Vec<u8>),
    /// A stream of events.
    Events(Box<EventReader>),
    /// Nothing that can be read.
    Opaque,
}

impl Reading {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if text(&CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return Self::Opaque;
        }
        let kind = text(&CONTENT_TYPE).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind.eq_ignore_ascii_case("text/event-stream") {
            true => Self::Events(Box::new(EventReader::new(LARGEST))),
            false => Self::Document(Vec::new()),
        }
    }

    /// Takes the next bytes, and returns the messages that are whole with them.
    pub(super) fn take(&mut self, mut chunk: &[u8]) -> Vec<Bytes> {
        let mut whole = Vec::new();
        match self {
            Self::Document(read) if read.len() + chunk.len() <= LARGEST => {
                read.extend_from_slice(chunk);
            }
            Self::Events(reader) => loop {
                match reader.read(&mut chunk) {
                    Ok(Some(event)) if event.data.is_empty() => {}
                    Ok(Some(event)) => whole.push(Bytes::from(event.data)),
                    Ok(None) => break,
                    Err(_) => {
                        *self = Self::Opaque;
                        break;
                    }
                }
            },
            Self::Document(_) | Self::Opaque => *self = Self::Opaque,
        }
        whole
    }

    /// The last message, when the body has ended.
    pub(super) fn end(&mut self) -> Option<Bytes> {
        match std::mem::replace(self, Self::Opaque) {
            Self::Document(read) if !read.is_empty() => Some(read.into()),
            _ => None,
        }
    }
}

/// Bytes of one message that are read. Larger ones are passed on unread.
const LARGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn reading(kind: &'static str) -> Reading {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Reading::of(&headers)
    }

    #[test]
    fn events_are_read_in_any_pieces() {
        let mut events = reading("text/event-stream; charset=utf-8");
        let mut seen = Vec::new();
        for byte in b": hello\n\ndata: {\"a\":1}\n\nid: 7\ndata: two\ndata: lines\n\n" {
            seen.extend(events.take(&[*byte]));
        }
        assert_eq!(seen, ["{\"a\":1}", "two\nlines"]);
        assert_eq!(events.end(), None);
    }

    #[test]
    fn a_document_is_read_at_its_end_and_a_large_one_is_not() {
        let mut document = reading("application/json");
        assert_eq!(document.take(b"{\"a\""), Vec::<Bytes>::new());
        assert_eq!(document.take(b":1}"), Vec::<Bytes>::new());
        assert_eq!(document.end().as_deref(), Some(&b"{\"a\":1}"[..]));
        let mut large = reading("application/json");
        for _ in 0..3 {
            large.take(&vec![b' '; LARGEST / 2]);
        }
        assert_eq!(large.end(), None);
    }

    #[test]
    fn a_compressed_body_is_passed_on_unread() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        assert!(matches!(Reading::of(&headers), Reading::Opaque));
    }
}
