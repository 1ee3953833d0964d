//! Header values: plain text, or Base64 between two markers.

use std::borrow::Cow;

use base64_simd::STANDARD;
use http::HeaderValue;
use thiserror::Error;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// Encodes any text as a header value.
///
/// Text that a proxy could trim, cut, refuse or take for Base64 is encoded. All
/// other text stays readable.
///
/// # Examples
///
/// ```
/// use sterna_protocol::http::{decode_value, encode_value};
///
/// assert_eq!(encode_value("us-west1"), "us-west1");
/// assert_eq!(encode_value("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
/// assert_eq!(decode_value(&encode_value("Hello, 世界"))?, "Hello, 世界");
/// # Ok::<(), sterna_protocol::http::MalformedValue>(())
/// ```
pub fn encode_value(text: &str) -> HeaderValue {
    // HTTP-C12: text that looks encoded must be encoded, or readers would decode it.
    let marked = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    write_plain(text)
        .filter(|_| !marked)
        .unwrap_or_else(|| write_encoded(text))
}

fn write_encoded(text: &str) -> HeaderValue {
    let value = format!("{PREFIX}{}{SUFFIX}", STANDARD.encode_to_string(text));
    HeaderValue::try_from(value).expect("Base64 and its markers are visible ASCII")
}

/// Decodes the text of a header value.
///
/// Spaces and tabs around the value are removed. A value with only one of the
/// two markers, or with a marker in upper case, is plain text.
///
/// # Errors
///
/// The value holds a character that is not allowed in headers, or the part
/// between the markers is not Base64 of UTF-8.
pub fn decode_value(value: &HeaderValue) -> Result<Cow<'_, str>, MalformedValue> {
    let text = read_plain(value)?;
    let Some(encoded) = text
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
    else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = STANDARD
        .decode_to_vec(encoded)
        .map_err(|_| MalformedValue)?;
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|_| MalformedValue)
}

/// Reads the value of a header that is never encoded.
pub(super) fn read_plain(value: &HeaderValue) -> Result<&str, MalformedValue> {
    // HTTP-S15: `to_str` refuses everything but visible ASCII, space and tab.
    let text = value.to_str().map_err(|_| MalformedValue)?;
    Ok(text.trim_matches([' ', '\t']))
}

/// Writes plain text. `None` if it would not arrive unchanged.
pub(super) fn write_plain(text: &str) -> Option<HeaderValue> {
    // HTTP-C7: a tab is allowed in headers, but control characters are encoded.
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    if !printable || padded {
        return None;
    }
    HeaderValue::from_str(text).ok()
}

/// Header value that cannot be read as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("malformed header value")]
#[non_exhaustive]
pub struct MalformedValue;
