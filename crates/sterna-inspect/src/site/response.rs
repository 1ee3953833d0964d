//! Responses and their header fields.

use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use maud::Markup;
use serde_json::Value;
use sterna_http::{ResponseBody, reply};

/// A page.
pub(super) fn html(status: StatusCode, page: &Markup) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(page.0.clone()));
    *response.status_mut() = status;
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, html);
    response
}

/// A file of our own.
pub(super) fn asset(kind: &'static str, text: &'static str) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// JSON for the script.
pub(super) fn json(value: &Value) -> Response<ResponseBody> {
    reply::json(StatusCode::OK, value.to_string())
}

/// A file of JSON. The browser saves it and shows nothing of it.
pub(super) fn download(json: String) -> Response<ResponseBody> {
    let mut response = reply::json(StatusCode::OK, json);
    let attachment = HeaderValue::from_static("attachment; filename=\"call.json\"");
    response
        .headers_mut()
        .insert(CONTENT_DISPOSITION, attachment);
    response
}

/// An image of a server, on a page of its own that runs nothing.
pub(super) fn image(kind: &'static str, bytes: Vec<u8>) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    let policy = HeaderValue::from_static("default-src 'none'; sandbox");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// Has the browser load another page of ours.
pub(super) fn see_other(address: &str) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let address = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(LOCATION, address);
    response
}

pub(super) fn with_cookie(
    mut response: Response<ResponseBody>,
    cookie: &str,
) -> Response<ResponseBody> {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Adds the header fields that every response has.
pub(super) fn protected(mut response: Response<ResponseBody>) -> Response<ResponseBody> {
    let headers = response.headers_mut();
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        // Not `no-referrer`: with that, browsers send `Origin: null` with our own forms.
        (REFERRER_POLICY, "same-origin"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Nothing is loaded but our own script and style sheet, and nothing inline runs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
