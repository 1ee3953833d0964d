//! The header `Prefer` (RFC 7240), as far as operations know it.

use std::time::Duration;

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};

/// Wish of a client to be answered before its request is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RespondAsync {
    /// Time for which the client waits for the response first.
    pub(crate) wait: Option<Duration>,
}

impl RespondAsync {
    /// Reads the wish; `None` if there is none. A wait is at most `longest`.
    pub(crate) fn read(headers: &HeaderMap, longest: Duration) -> Option<Self> {
        let lines = headers.get_all(PREFER).iter();
        let lines = lines.filter_map(|line| line.to_str().ok());
        let (mut is_async, mut wait) = (false, None);
        for preference in lines.flat_map(preferences) {
            // Parameters after a semicolon are those of other preferences.
            let token = preference.split(';').next().unwrap_or_default();
            let (name, value) = token.split_once('=').unwrap_or((token, ""));
            let value = value.trim().trim_matches('"');
            match name.trim().to_ascii_lowercase().as_str() {
                "respond-async" => is_async = true,
                // Of a preference that is there twice, the first counts.
                "wait" if wait.is_none() => wait = value.parse().ok().map(Duration::from_secs),
                _ => {}
            }
        }
        is_async.then(|| Self {
            wait: wait.map(|wait| wait.min(longest)),
        })
    }

    /// Returns the value of `Preference-Applied`.
    pub(crate) fn applied(self) -> HeaderValue {
        let Some(wait) = self.wait else {
            return HeaderValue::from_static("respond-async");
        };
        let applied = format!("respond-async, wait={}", wait.as_secs());
        applied.try_into().expect("digits are a header value")
    }
}

/// Splits a header at the commas that are in no quoted string.
fn preferences(line: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |each| {
        is_quoted ^= each == '"';
        each == ',' && !is_quoted
    })
}

const PREFER: HeaderName = HeaderName::from_static("prefer");
pub(crate) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&'static str], expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(PREFER, HeaderValue::from_static(line));
        }
        let read = RespondAsync::read(&headers, Duration::from_secs(30));
        let shown = read.map(|wish| wish.applied());
        assert_eq!(
            shown.as_ref().map(|shown| shown.to_str().unwrap()),
            expected
        );
    }

    #[test]
    fn a_wish_is_read_however_it_is_spelled() {
        check(&[], None);
        check(&["return=minimal", "wait=5"], None);
        check(&["respond-async"], Some("respond-async"));
        check(&["Respond-Async, WAIT = 5"], Some("respond-async, wait=5"));
        check(
            &["wait=\"5\"", "respond-async; x=1"],
            Some("respond-async, wait=5"),
        );
        check(
            &["respond-async, wait=5, wait=9"],
            Some("respond-async, wait=5"),
        );
    }

    #[test]
    fn a_wait_has_a_bound_and_one_that_is_no_number_is_none() {
        check(
            &["respond-async, wait=4000000000"],
            Some("respond-async, wait=30"),
        );
        check(&["respond-async, wait=soon"], Some("respond-async"));
        check(&["respond-async, wait=-1"], Some("respond-async"));
        check(&["x=\"a, respond-async\""], None);
    }
}
