//! One header of a request, compared with what the body says.

use std::ops::Deref;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::mismatch::HeaderMismatch;
use super::value::MalformedValue;

/// The only value of `header`, if it is there at all.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    header: &HeaderName,
) -> Result<Option<&'a HeaderValue>, HeaderMismatch> {
    let mut values = headers.get_all(header).iter();
    let value = values.next();
    if values.next().is_some() {
        // Two readers might each believe another one, even of two equals.
        return Err(HeaderMismatch::Repeated(header.clone()));
    }
    Ok(value)
}

/// Checks that `header` is there and that what it says passes `agrees`.
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
