//! Refusals: requests that are answered without reaching the endpoint.

use std::borrow::Cow;
use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};

use super::body::ResponseBody;
use super::reply;
use crate::auth::Denied;

/// A request that is answered without being served.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The `Host` is missing, doubled or no host: 400.
    BadHost,
    /// The body broke off: 400.
    BodyBroken,
    /// The values of the body would take more memory than one request may: 413.
    BodyTooComplex,
    /// The body is larger than we take: 413.
    BodyTooLarge,
    /// The body did not come in time: 408.
    BodyTooSlow,
    /// There is no room for one more call: 503.
    Busy,
    /// The caller holds as many calls or listeners as one caller may: 429.
    CallerBusy {
        /// `calls` or `listeners`.
        what: &'static str,
        /// The most that one caller may hold.
        limit: usize,
    },
    /// The caller is not let in: 400, 401, 403 or 503.
    Denied {
        /// The reason.
        denied: Denied,
        /// The `WWW-Authenticate` header that says so.
        challenge: Option<HeaderValue>,
    },
    /// The `Host` is not one of our names: 403.
    ForeignHost,
    /// The `Origin` is not one that we serve: 403.
    ForeignOrigin,
    /// The head is larger than we take: 431.
    HeadTooLarge,
    /// The method is not one of those in `allow`: 405.
    MethodNotAllowed {
        /// Value of the `Allow` header.
        allow: &'static str,
    },
    /// The client takes neither JSON nor an event stream: 406.
    NotAcceptable,
    /// Nothing is at that path, and the client is not told about other paths: 404.
    NotFound,
    /// The body is not said to be plain JSON: 415.
    NotJson,
    /// The call was served, but there is no memory to hold its answer: 503.
    NoRoomForAnswer,
    /// The call panicked: 500.
    Panicked,
    /// The caller calls, or has itself asked, too often: 429.
    Throttled {
        /// When it may come again.
        retry_after: Duration,
    },
    /// The call did not end in time: 504.
    TimedOut,
    /// There are as many connections as there may be, and all have requests:
    /// 503. Probes are answered all the same.
    TooManyConnections,
    /// The endpoint is at another path: 404. Only for a sender whose `Origin`
    /// and `Host` have been judged.
    WrongPath {
        /// Path of the endpoint.
        endpoint: Box<str>,
    },
}

impl Refusal {
    /// The refusal as a problem document (RFC 9457).
    #[must_use]
    pub fn into_response(self) -> Response<ResponseBody> {
        let (status, text) = self.text();
        let title = status.canonical_reason().unwrap_or_default();
        let document = serde_json::json!({
            "title": title,
            "status": status.as_u16(),
            "detail": text,
            "reason": self.reason(),
        });
        let mut response = self.with_document(document.to_string());
        let problem = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(CONTENT_TYPE, problem);
        response
    }

    /// The refusal with the JSON document of another protocol, and the headers
    /// that every refusal needs.
    #[must_use]
    pub fn with_document(self, document: String) -> Response<ResponseBody> {
        let mut response = reply::json(self.text().0, document);
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after() {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        match self {
            Self::Denied {
                challenge: Some(challenge),
                ..
            } => {
                headers.insert(WWW_AUTHENTICATE, challenge);
            }
            Self::MethodNotAllowed { allow } => {
                headers.insert(ALLOW, HeaderValue::from_static(allow));
            }
            _ => {}
        }
        response
    }

    /// The status, the mistake and its remedy. The only place
    /// where a refusal becomes text.
    #[must_use]
    pub fn text(&self) -> (StatusCode, Cow<'static, str>) {
        let (status, text) = match self {
            Self::BadHost => (
                StatusCode::BAD_REQUEST,
                "the request must name one host, in one valid `Host` header",
            ),
            Self::BodyBroken => (
                StatusCode::BAD_REQUEST,
                "the body broke off before its announced end; send the request again",
            ),
            Self::BodyTooComplex => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body has more values than this server takes (`limits.parsed_bytes`); send \
                 fewer in one request",
            ),
            Self::BodyTooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body is larger than this server takes (`limits.body_bytes`)",
            ),
            Self::BodyTooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "the body took longer to arrive than this server waits (`timeouts.body`)",
            ),
            Self::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the server is busy; try again after the time in `Retry-After`",
            ),
            Self::CallerBusy { what, limit } => {
                let text = format!(
                    "one caller may hold {limit} {what} at once; try again when one has ended"
                );
                return (StatusCode::TOO_MANY_REQUESTS, text.into());
            }
            Self::Denied { denied, .. } => match denied {
                Denied::InsufficientScope(_) => (
                    StatusCode::FORBIDDEN,
                    "the token lacks a scope; `WWW-Authenticate` names those that are needed",
                ),
                Denied::InvalidRequest => (
                    StatusCode::BAD_REQUEST,
                    "send one access token, as `Authorization: Bearer <token>`",
                ),
                Denied::InvalidToken(_) => (StatusCode::UNAUTHORIZED, "the token is not accepted"),
                Denied::NoToken => (
                    StatusCode::UNAUTHORIZED,
                    "an access token is needed: send `Authorization: Bearer <token>`",
                ),
                Denied::Unavailable => (
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the server is busy; try again after the time in `Retry-After`",
                ),
            },
            Self::ForeignHost => (
                StatusCode::FORBIDDEN,
                "the `Host` header names none of this server's hosts; its operator lists them in \
                 `HttpConfig::hosts`",
            ),
            Self::ForeignOrigin => (
                StatusCode::FORBIDDEN,
                "the `Origin` header names a page that this server does not serve; its operator \
                 lists them in `HttpConfig::origins`",
            ),
            Self::HeadTooLarge => (
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "the target and the headers are larger than this server takes \
                 (`limits.head_bytes`)",
            ),
            Self::MethodNotAllowed { allow } => {
                let text = format!("the HTTP method is not served here; use one of: {allow}");
                return (StatusCode::METHOD_NOT_ALLOWED, text.into());
            }
            Self::NotAcceptable => (
                StatusCode::NOT_ACCEPTABLE,
                "the `Accept` header must list application/json and text/event-stream",
            ),
            // No `Retry-After`: the first call may have had effects.
            Self::NoRoomForAnswer => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the call was served, but there is no memory for its answer",
            ),
            Self::NotFound => (StatusCode::NOT_FOUND, "nothing is at this path"),
            Self::NotJson => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "`Content-Type` must be application/json, and there must be no \
                 `Content-Encoding`",
            ),
            Self::Panicked => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal error; the server's log says which",
            ),
            Self::Throttled { .. } => (
                StatusCode::TOO_MANY_REQUESTS,
                "too many requests; try again after the time in `Retry-After`",
            ),
            Self::TimedOut => (
                StatusCode::GATEWAY_TIMEOUT,
                "the call took longer than this server allows (`timeouts.call`)",
            ),
            Self::TooManyConnections => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the server has as many connections as it takes (`limits.connections`); try \
                 again after the time in `Retry-After`",
            ),
            Self::WrongPath { endpoint } => {
                let text = format!("nothing is at this path; the endpoint is at {endpoint}");
                return (StatusCode::NOT_FOUND, text.into());
            }
        };
        (status, text.into())
    }

    /// Returns `true` if the rest of the body is not worth reading, so that
    /// the connection ends here.
    pub(super) fn gives_up_on_body(&self) -> bool {
        matches!(
            self,
            Self::BodyBroken | Self::BodyTooLarge | Self::BodyTooSlow
        )
    }

    /// A word for it in logs and metrics.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::BadHost => "bad_host",
            Self::BodyBroken => "body_broken",
            Self::BodyTooComplex => "body_too_complex",
            Self::BodyTooLarge => "body_too_large",
            Self::BodyTooSlow => "body_too_slow",
            Self::Busy => "busy",
            Self::CallerBusy { .. } => "caller_busy",
            Self::Denied { denied, .. } => match denied {
                Denied::InsufficientScope(_) => "insufficient_scope",
                Denied::InvalidRequest => "invalid_credential",
                Denied::InvalidToken(_) => "invalid_token",
                Denied::NoToken => "no_token",
                Denied::Unavailable => "auth_unavailable",
            },
            Self::ForeignHost => "foreign_host",
            Self::ForeignOrigin => "foreign_origin",
            Self::HeadTooLarge => "head_too_large",
            Self::MethodNotAllowed { .. } => "method_not_allowed",
            Self::NotAcceptable => "not_acceptable",
            Self::NotFound => "not_found",
            Self::NotJson => "not_json",
            Self::NoRoomForAnswer => "no_room_for_answer",
            Self::Panicked => "panicked",
            Self::Throttled { .. } => "throttled",
            Self::TimedOut => "timed_out",
            Self::TooManyConnections => "too_many_connections",
            Self::WrongPath { .. } => "not_found",
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            // Room comes back call by call, so the shortest wait that can be said is right.
            Self::Busy | Self::CallerBusy { .. } | Self::TooManyConnections => Some(1),
            Self::Denied {
                denied: Denied::Unavailable,
                ..
            } => Some(5),
            Self::Throttled { retry_after } => {
                let up = u64::from(retry_after.subsec_nanos() > 0);
                Some(retry_after.as_secs().saturating_add(up).max(1))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use http_body_util::BodyExt;

    use super::*;

    fn check(refusal: Refusal, expected: Expect) {
        let (head, body) = refusal.into_response().into_parts();
        let body = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(body.collect())
            .unwrap()
            .to_bytes();
        let mut text = format!("{}\n", head.status);
        for (name, value) in &head.headers {
            text += &format!("{name}: {}\n", value.to_str().unwrap());
        }
        expected.assert_eq(&(text + std::str::from_utf8(&body).unwrap()));
    }

    #[test]
    fn a_refusal_says_when_to_come_again() {
        check(
            Refusal::Throttled {
                retry_after: Duration::from_millis(1001),
            },
            expect![[r#"
                429 Too Many Requests
                content-type: application/problem+json
                retry-after: 2
                {"title":"Too Many Requests","status":429,"detail":"too many requests; try again after the time in `Retry-After`","reason":"throttled"}"#]],
        );
        check(
            Refusal::Busy,
            expect![[r#"
                503 Service Unavailable
                content-type: application/problem+json
                retry-after: 1
                {"title":"Service Unavailable","status":503,"detail":"the server is busy; try again after the time in `Retry-After`","reason":"busy"}"#]],
        );
    }

    #[test]
    fn a_caller_that_holds_its_share_is_told_how_much_that_is() {
        check(
            Refusal::CallerBusy {
                what: "calls",
                limit: 256,
            },
            expect![[r#"
                429 Too Many Requests
                content-type: application/problem+json
                retry-after: 1
                {"title":"Too Many Requests","status":429,"detail":"one caller may hold 256 calls at once; try again when one has ended","reason":"caller_busy"}"#]],
        );
    }

    #[test]
    fn a_refusal_says_what_is_allowed() {
        check(
            Refusal::MethodNotAllowed { allow: "POST" },
            expect![[r#"
                405 Method Not Allowed
                content-type: application/problem+json
                allow: POST
                {"title":"Method Not Allowed","status":405,"detail":"the HTTP method is not served here; use one of: POST","reason":"method_not_allowed"}"#]],
        );
    }

    #[test]
    fn a_token_is_asked_for_without_saying_what_was_wrong_with_it() {
        check(
            Refusal::Denied {
                denied: Denied::InvalidToken(crate::auth::TokenFault::Expired),
                challenge: Some(HeaderValue::from_static("Bearer error=\"invalid_token\"")),
            },
            expect![[r#"
                401 Unauthorized
                content-type: application/problem+json
                www-authenticate: Bearer error="invalid_token"
                {"title":"Unauthorized","status":401,"detail":"the token is not accepted","reason":"invalid_token"}"#]],
        );
    }
}
