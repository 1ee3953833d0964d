//! Every way in which the edge says no.

use std::time::Duration;

use http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};

use super::body::EdgeBody;
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
    /// The body is larger than we take: 413.
    BodyTooLarge,
    /// The body did not come in time: 408.
    BodyTooSlow,
    /// There is no room for one more call: 503.
    Busy,
    /// The caller is not let in: 400, 401, 403 or 503.
    Denied {
        /// Why.
        denied: Denied,
        /// The `WWW-Authenticate` header that says so.
        challenge: Option<HeaderValue>,
    },
    /// The `Host` is none of our names: 403.
    ForeignHost,
    /// The `Origin` is none we serve: 403.
    ForeignOrigin,
    /// The head is larger than we take: 431.
    HeadTooLarge,
    /// The method is none of those in `allow`: 405.
    MethodNotAllowed {
        /// What the `Allow` header says.
        allow: &'static str,
    },
    /// The client takes neither JSON nor an event stream: 406.
    NotAcceptable,
    /// Nothing is at that path: 404.
    NotFound,
    /// The body is not said to be plain JSON: 415.
    NotJson,
    /// The call panicked: 500.
    Panicked,
    /// The caller calls, or has itself asked, too often: 429.
    Throttled {
        /// When it may come again.
        retry_after: Duration,
    },
    /// The call did not end in time: 504.
    TimedOut,
}

impl Refusal {
    /// The answer. The only place where a refusal of the edge becomes text.
    #[must_use]
    pub fn into_response(self) -> Response<EdgeBody> {
        let (status, text) = match &self {
            Self::BadHost => (StatusCode::BAD_REQUEST, "one valid Host is needed"),
            Self::BodyBroken => (StatusCode::BAD_REQUEST, "the body broke off"),
            Self::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
            Self::BodyTooSlow => (StatusCode::REQUEST_TIMEOUT, "the body came too slowly"),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy, try again"),
            Self::Denied { denied, .. } => match denied {
                Denied::InsufficientScope(_) => (StatusCode::FORBIDDEN, "the scope is not enough"),
                Denied::InvalidRequest => (StatusCode::BAD_REQUEST, "one bearer token is needed"),
                Denied::InvalidToken(_) => (StatusCode::UNAUTHORIZED, "the token is not accepted"),
                Denied::NoToken => (StatusCode::UNAUTHORIZED, "a token is needed"),
                Denied::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "busy, try again"),
            },
            Self::ForeignHost => (StatusCode::FORBIDDEN, "the Host is not served here"),
            Self::ForeignOrigin => (StatusCode::FORBIDDEN, "the Origin is not served here"),
            Self::HeadTooLarge => (
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "the head is too large",
            ),
            Self::MethodNotAllowed { .. } => {
                (StatusCode::METHOD_NOT_ALLOWED, "the method is not allowed")
            }
            Self::NotAcceptable => (
                StatusCode::NOT_ACCEPTABLE,
                "accept application/json and text/event-stream",
            ),
            Self::NotFound => (StatusCode::NOT_FOUND, "nothing is here"),
            Self::NotJson => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "send application/json without content coding",
            ),
            Self::Panicked => (StatusCode::INTERNAL_SERVER_ERROR, "internal error"),
            Self::Throttled { .. } => (StatusCode::TOO_MANY_REQUESTS, "too many, slow down"),
            Self::TimedOut => (StatusCode::GATEWAY_TIMEOUT, "the call took too long"),
        };
        let mut response = reply::json(status, error_document(status, text));
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

    /// A word for it in logs and metrics.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::BadHost => "bad_host",
            Self::BodyBroken => "body_broken",
            Self::BodyTooLarge => "body_too_large",
            Self::BodyTooSlow => "body_too_slow",
            Self::Busy => "busy",
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
            Self::Panicked => "panicked",
            Self::Throttled { .. } => "throttled",
            Self::TimedOut => "timed_out",
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            // Room comes back call by call, so the shortest wait that can be said is right.
            Self::Busy => Some(1),
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

/// A JSON-RPC error without an id, which the spec allows for a refusal that
/// comes before the request was read.
fn error_document(status: StatusCode, text: &'static str) -> String {
    let code = if status.is_server_error() {
        -32603
    } else {
        -32600
    };
    format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":"{text}"}}}}"#)
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
                content-type: application/json
                retry-after: 2
                {"jsonrpc":"2.0","error":{"code":-32600,"message":"too many, slow down"}}"#]],
        );
        check(
            Refusal::Busy,
            expect![[r#"
                503 Service Unavailable
                content-type: application/json
                retry-after: 1
                {"jsonrpc":"2.0","error":{"code":-32603,"message":"busy, try again"}}"#]],
        );
    }

    #[test]
    fn a_refusal_says_what_is_allowed() {
        check(
            Refusal::MethodNotAllowed { allow: "POST" },
            expect![[r#"
                405 Method Not Allowed
                content-type: application/json
                allow: POST
                {"jsonrpc":"2.0","error":{"code":-32600,"message":"the method is not allowed"}}"#]],
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
                content-type: application/json
                www-authenticate: Bearer error="invalid_token"
                {"jsonrpc":"2.0","error":{"code":-32600,"message":"the token is not accepted"}}"#]],
        );
    }
}
