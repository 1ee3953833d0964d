//! The type of a request's body and the types that its sender reads.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};

/// The kinds of answer a client takes.
///
/// The spec has clients list both. We serve one that lists only one of them,
/// or none at all, as long as there is an answer it can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepts {
    json: bool,
    events: bool,
}

impl Accepts {
    /// Of a client that reads both kinds.
    pub(super) const EVERYTHING: Self = Self {
        json: true,
        events: true,
    };

    /// Returns whether the client reads a JSON document.
    #[must_use]
    pub fn json(self) -> bool {
        self.json
    }

    /// Returns whether the client reads an event stream.
    #[must_use]
    pub fn events(self) -> bool {
        self.events
    }

    pub(super) fn read(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(ACCEPT).iter().peekable();
        match values.peek() {
            None => return Self::EVERYTHING,
            // The usual value of clients; further values add nothing.
            Some(value) if *value == USUAL => return Self::EVERYTHING,
            Some(_) => {}
        }
        let mut accepts = Self {
            json: false,
            events: false,
        };
        for range in values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
        {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default();
            if parts.any(is_zero_quality) {
                continue;
            }
            let is = |name: &str| media.eq_ignore_ascii_case(name);
            accepts.json |= is("application/json") || is("application/*") || is("*/*");
            accepts.events |= is("text/event-stream") || is("text/*") || is("*/*");
        }
        accepts
    }
}

/// Returns whether the body is one plain JSON document.
///
/// A page can send other types without asking the browser's leave, so taking
/// only this one keeps foreign pages out even where no `Origin` is sent.
pub(super) fn is_plain_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let is_json = types.next().is_some_and(|value| {
        if value == "application/json" {
            return true;
        }
        let media = value.to_str().unwrap_or_default().split(';').next();
        media.is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"))
    });
    let plain = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    is_json && types.next().is_none() && plain
}

/// The value that the spec shows for clients to copy.
pub(super) const USUAL: &str = "application/json, text/event-stream";

fn is_zero_quality(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    name.trim().eq_ignore_ascii_case("q") && value.trim().parse() == Ok(0.0_f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_accept(values: &[&str], expected: &str) {
        let headers: HeaderMap = values
            .iter()
            .map(|value| (ACCEPT, value.parse().unwrap()))
            .collect();
        let accepts = Accepts::read(&headers);
        let text = match (accepts.json(), accepts.events()) {
            (true, true) => "both",
            (true, false) => "json",
            (false, true) => "events",
            (false, false) => "neither",
        };
        assert_eq!(text, expected, "{values:?}");
    }

    #[test]
    fn a_client_is_served_what_it_can_read() {
        check_accept(&[], "both");
        check_accept(&["application/json, text/event-stream"], "both");
        check_accept(&["text/event-stream", "application/json"], "both");
        check_accept(&["*/*"], "both");
        check_accept(&["Application/JSON; charset=utf-8"], "json");
        check_accept(&["text/event-stream"], "events");
        check_accept(&["text/*;q=0.5"], "events");
        check_accept(&["application/*"], "json");
        check_accept(&["application/json;q=0, text/event-stream"], "events");
        check_accept(&["text/html, image/*"], "neither");
        check_accept(&[""], "neither");
    }

    fn check_type(values: &[(&str, &str)], expected: bool) {
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            let name: http::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        assert_eq!(is_plain_json(&headers), expected, "{values:?}");
    }

    #[test]
    fn only_plain_json_is_read() {
        check_type(&[("content-type", "application/json")], true);
        check_type(
            &[("content-type", "APPLICATION/json ; charset=utf-8")],
            true,
        );
        check_type(&[], false);
        check_type(&[("content-type", "text/plain")], false);
        check_type(&[("content-type", "application/jsonp")], false);
        check_type(&[("content-type", "text/plain; application/json")], false);
        let json = ("content-type", "application/json");
        check_type(&[json, ("content-type", "text/plain")], false);
        check_type(&[json, ("content-encoding", "gzip")], false);
        check_type(&[json, ("content-encoding", "identity")], true);
    }
}
