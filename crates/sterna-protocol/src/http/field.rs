//! Comparison of one request header with the body.

use std::ops::Deref;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::mismatch::HeaderMismatch;
use super::value::MalformedValue;

/// Returns the only value of `header`, if it is present.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    header: &HeaderName,
) -> Result<Option<&'a HeaderValue>, HeaderMismatch> {
    // As many values as names: no header is repeated, as usual.
    if headers.len() == headers.keys_len() {
        return Ok(headers.get(header));
    }
    let mut values = headers.get_all(header).iter();
    let value = values.next();
    if values.next().is_some() {
        // Readers differ on which of the two counts; equal values are no exception.
        return Err(HeaderMismatch::Repeated(header.clone()));
    }
    Ok(value)
}

/// Checks that `header` is present and has the value `text`.
pub(super) fn require_text<'a, T: Deref<Target = str>>(
    headers: &'a HeaderMap,
    header: &HeaderName,
    text: &str,
    read: impl FnOnce(&'a HeaderValue) -> Result<T, MalformedValue>,
) -> Result<(), HeaderMismatch> {
    match single(headers, header)? {
        Some(value) if value.as_bytes() == text.as_bytes() && is_read_as_is(text) => Ok(()),
        _ => require(headers, header, read, |value| value == text),
    }
}

/// Returns true if a header value of these bytes needs no trimming or decoding
/// and cannot be malformed.
pub(super) fn is_read_as_is(text: &str) -> bool {
    let inside = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    text.is_ascii() && inside(bytes.first()) && inside(bytes.last())
}

/// Checks that `header` is present and that `agrees` accepts its value.
pub(super) fn require<'a, T: Deref<Target = str>>(
    headers: &'a HeaderMap,
    header: &HeaderName,
    read: impl FnOnce(&'a HeaderValue) -> Result<T, MalformedValue>,
    agrees: impl FnOnce(&str) -> bool,
) -> Result<(), HeaderMismatch> {
    let Some(value) = single(headers, header)? else {
        return Err(HeaderMismatch::Missing(header.clone()));
    };
    match read(value) {
        Ok(text) if agrees(&text) => Ok(()),
        Ok(_) => Err(HeaderMismatch::Differs(header.clone())),
        Err(MalformedValue) => Err(HeaderMismatch::Malformed(header.clone())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::super::value::{decode_value, encode_value};
    use super::*;

    const NAME: HeaderName = HeaderName::from_static("mcp-name");

    proptest! {
        #[test]
        fn a_header_that_is_the_text_itself_is_judged_as_every_other(
            value in "[a0 \t=?é~/-]{0,5}|=\\?base64\\?[aQ=]{0,4}\\?=",
            other in "[a0 \t=?é~/-]{0,5}",
        ) {
            for text in [&value, &other] {
                for value in HeaderValue::from_str(&value).into_iter().chain([encode_value(text)]) {
                    let headers = HeaderMap::from_iter([(NAME, value)]);
                    let quick = require_text(&headers, &NAME, text, decode_value);
                    let slow = require(&headers, &NAME, decode_value, |value| value == text);
                    prop_assert_eq!(quick, slow);
                }
            }
        }
    }
}
