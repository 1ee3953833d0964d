//! Cookies of a session: a load balancer before the server may find the instance
//! by them.

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};

/// Value of the header `cookie` for the session that a response opened; `None` if
/// it set no cookie.
///
/// Only names and values count: the cookies go to one URL, and no longer than the
/// session lasts.
pub(super) fn set_by(response: &HeaderMap) -> Option<HeaderValue> {
    let mut line = Vec::new();
    for cookie in response.get_all(SET_COOKIE).iter().take(MOST_COOKIES) {
        let pair = cookie.as_bytes().split(|byte| *byte == b';').next();
        let pair = pair.unwrap_or_default().trim_ascii();
        let named = pair
            .iter()
            .position(|byte| *byte == b'=')
            .is_some_and(|at| at > 0);
        if !named || line.len() + pair.len() > LONGEST_LINE {
            continue;
        }
        if !line.is_empty() {
            line.extend_from_slice(b"; ");
        }
        line.extend_from_slice(pair);
    }
    let mut value = HeaderValue::from_bytes(&line)
        .ok()
        .filter(|line| !line.is_empty())?;
    value.set_sensitive(true);
    Some(value)
}

/// Balancers set one or two.
const MOST_COOKIES: usize = 8;

/// A paused call keeps them.
const LONGEST_LINE: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(set: &[&str], expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        for line in set {
            headers.append(SET_COOKIE, HeaderValue::from_str(line).unwrap());
        }
        let line = set_by(&headers);
        let line = line.as_ref().map(|line| line.to_str().unwrap());
        assert_eq!(line, expected);
    }

    #[test]
    fn cookies_are_sent_back_without_their_attributes() {
        check(&[], None);
        check(
            &["AWSALB=a1; Path=/; HttpOnly", "route=2"],
            Some("AWSALB=a1; route=2"),
        );
        check(&["nonsense", "=x", "  ok=1 "], Some("ok=1"));
    }

    #[test]
    fn cookies_are_few_and_short() {
        check(&[&format!("a={}", "x".repeat(3000)), "b=1"], Some("b=1"));
        let many: Vec<_> = (0..20).map(|n| format!("c{n}=1")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let kept = many[..8].join("; ");
        check(&many, Some(&kept));
    }
}
