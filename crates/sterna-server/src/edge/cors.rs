//! Letting the pages we serve read our answers.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, VARY,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::body::EdgeBody;

/// Answers the question a browser asks before a page's first request.
///
/// Any header may be sent: `Mcp-Param-*` names are the tools' own, and the
/// page is one we serve. Cookies never count, so none are allowed.
pub(super) fn preflight(asked: &HeaderMap, methods: &'static str) -> Response<EdgeBody> {
    let mut response = Response::new(EdgeBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(methods),
    );
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    response
}

/// Marks an answer as one that `page` may read.
pub(super) fn share(response: &mut Response<EdgeBody>, page: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate, Retry-After"),
    );
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
