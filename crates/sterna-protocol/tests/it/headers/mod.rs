//! HTTP headers that repeat parts of a body.

mod annotations;
mod params;
mod standard;
mod values;

use http::{HeaderMap, HeaderName, HeaderValue};
use sterna_protocol::http::HeaderMismatch;
use sterna_protocol::jsonrpc::ErrorObject;

/// Headers from lines `Name: value`, trimmed as an HTTP parser trims.
fn headers(lines: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines.lines() {
        let (name, value) = line.trim().split_once(':').unwrap();
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_bytes(value.trim().as_bytes()).unwrap(),
        );
    }
    headers
}

fn verdict(checked: Result<(), HeaderMismatch>) -> String {
    match checked {
        Ok(()) => "accepted".to_owned(),
        Err(mismatch) => ErrorObject::from(&mismatch).to_string(),
    }
}
