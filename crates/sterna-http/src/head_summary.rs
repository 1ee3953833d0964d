//! The fields that every request is judged by, found in one pass.

use http::HeaderMap;
use http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HOST, HeaderName, HeaderValue, ORIGIN,
};
use http::request::Parts;

use super::accept::USUAL;

/// Summary of a head, for the requests that are spelled as usual.
///
/// Every `true` spares the check of that field. A `false` says nothing, and the
/// check reads the field itself: so it is for a field that is spelled in
/// another way, and for all fields if any of them is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HeadSummary {
    /// Bytes of all fields, as they came over the wire.
    pub(super) size: usize,
    pub(super) has_no_origin: bool,
    pub(super) has_no_expectation: bool,
    /// The body is `application/json` without an encoding.
    pub(super) is_plain_json: bool,
    /// The client reads documents and event streams.
    pub(super) accepts_everything: bool,
    /// The only host that is named is the one the connection was let in under.
    pub(super) has_known_host: bool,
}

impl HeadSummary {
    pub(super) fn of(head: &Parts, known_host: Option<&[u8]>) -> Self {
        let headers = &head.headers;
        let mut size = 0;
        let mut fields = Fields::default();
        for (name, value) in headers {
            // A colon, a space and a line end for each.
            size += name.as_str().len() + value.len() + 4;
            if let Some(field) = fields.find(name) {
                *field = Some(value);
            }
        }
        if has_repetition(headers) {
            return Self {
                size,
                ..Self::default()
            };
        }
        Self {
            size,
            has_no_origin: fields.origin.is_none(),
            has_no_expectation: fields.expectation.is_none(),
            is_plain_json: fields.encoding.is_none()
                && fields.kind.is_some_and(|kind| kind == "application/json"),
            accepts_everything: fields.accept.is_some_and(|accept| accept == USUAL),
            has_known_host: head.uri.authority().is_none()
                && known_host.is_some()
                && fields.host.map(HeaderValue::as_bytes) == known_host,
        }
    }
}

/// Fewer names than values: some field is repeated.
fn has_repetition(headers: &HeaderMap) -> bool {
    headers.len() != headers.keys_len()
}

#[derive(Default)]
struct Fields<'a> {
    accept: Option<&'a HeaderValue>,
    encoding: Option<&'a HeaderValue>,
    expectation: Option<&'a HeaderValue>,
    host: Option<&'a HeaderValue>,
    kind: Option<&'a HeaderValue>,
    origin: Option<&'a HeaderValue>,
}

impl<'a> Fields<'a> {
    fn find(&mut self, name: &HeaderName) -> Option<&mut Option<&'a HeaderValue>> {
        Some(if *name == HOST {
            &mut self.host
        } else if *name == ACCEPT {
            &mut self.accept
        } else if *name == CONTENT_TYPE {
            &mut self.kind
        } else if *name == ORIGIN {
            &mut self.origin
        } else if *name == CONTENT_ENCODING {
            &mut self.encoding
        } else if *name == EXPECT {
            &mut self.expectation
        } else {
            return None;
        })
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::super::accept::{Accepts, is_plain_json};
    use super::super::discard::Leftover;
    use super::*;

    const NAMES: [&str; 8] = [
        "host",
        "accept",
        "content-type",
        "content-encoding",
        "origin",
        "expect",
        "mcp-name",
        "content-length",
    ];
    const VALUES: [&str; 9] = [
        "",
        "a.example",
        "b.example",
        "application/json",
        "Application/JSON",
        "application/json, text/event-stream",
        "text/event-stream",
        "identity",
        "100-continue",
    ];

    /// All heads with two more fields than none or the usual ones: what the
    /// summary says is what reading each field says.
    #[test]
    fn a_summary_says_what_the_fields_say() {
        const USUAL: [usize; 3] = [9, 42, 27];
        let choices = NAMES.len() * VALUES.len() + 1;
        for usual in [&[][..], &USUAL] {
            for number in 0..choices.pow(2) {
                let more = [number % choices, number / choices];
                let mut request = Request::builder();
                for place in usual.iter().copied().chain(more).filter(|place| *place > 0) {
                    let (name, value) = (NAMES[(place - 1) % 8], VALUES[(place - 1) / 8]);
                    request = request.header(name, value);
                }
                let (head, ()) = request.body(()).unwrap().into_parts();
                check(&head);
            }
        }
    }

    fn check(head: &Parts) {
        let headers = &head.headers;
        let summary = HeadSummary::of(head, Some(b"a.example"));
        let size: usize = headers
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        assert_eq!(summary.size, size);
        if summary.has_no_origin {
            assert!(!headers.contains_key(ORIGIN), "{headers:?}");
        }
        if summary.has_no_expectation {
            assert_eq!(
                Leftover::of(head, &HeadSummary::default()),
                Leftover::InTheWay
            );
        }
        if summary.is_plain_json {
            assert!(is_plain_json(headers), "{headers:?}");
        }
        if summary.accepts_everything {
            assert_eq!(Accepts::read(headers), Accepts::EVERYTHING, "{headers:?}");
        }
        if summary.has_known_host {
            let hosts: Vec<_> = headers.get_all(HOST).iter().collect();
            assert_eq!(hosts, ["a.example"]);
        }
    }
}
