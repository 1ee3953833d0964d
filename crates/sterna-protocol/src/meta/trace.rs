//! W3C trace context and baggage in `_meta`.

/// Returns the trace id of a `traceparent`; `None` if it is malformed or all
/// zeros.
pub fn trace_id(parent: &str) -> Option<[u8; 16]> {
    let (parts, more) = parent.as_bytes().split_at_checked(LENGTH)?;
    let (version, parts) = parts.split_at_checked(2)?;
    let (trace, parts) = parts.split_first_chunk::<33>()?;
    let (span, flags) = parts.split_first_chunk::<17>()?;
    let ([b'-', trace @ ..], [b'-', span @ ..], [b'-', flags @ ..]) = (trace, span, flags) else {
        return None;
    };
    let version = hex::<1>(version)?;
    let (trace, span) = (hex::<16>(trace)?, hex::<8>(span)?);
    hex::<1>(flags)?;
    // Version ff is reserved. Version 00 has four parts, later ones may have more.
    let ends = more.is_empty() || version != [0] && more.starts_with(b"-");
    let names_one = trace != [0; 16] && span != [0; 8];
    (version != [0xff] && names_one && ends).then_some(trace)
}

/// Length of the four parts that every version has, with their hyphens.
const LENGTH: usize = 55;

/// Returns true if `text` is a valid `tracestate` that may be passed on
/// (BASE-B24). It has no meaning without a valid `traceparent`.
pub fn is_tracestate(text: &str) -> bool {
    // Empty members are allowed and ignored.
    let members = || text.split(',').map(trim).filter(|one| !one.is_empty());
    let is_key = |key: &str| {
        let mut bytes = key.bytes();
        let begins = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let goes_on = |byte: u8| begins(byte) || b"_-*/@".contains(&byte);
        key.len() <= 256 && bytes.next().is_some_and(begins) && bytes.all(goes_on)
    };
    let is_value = |value: &str| {
        let fits = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=';
        !value.is_empty() && value.len() <= 256 && value.bytes().all(fits)
    };
    let is_member = |member: &str| {
        let pair = member.split_once('=');
        pair.is_some_and(|(key, value)| is_key(key) && is_value(value))
    };
    text.len() <= 512 && (1..=32).contains(&members().count()) && members().all(is_member)
}

/// Returns true if `text` is a valid `baggage` that may be passed on
/// (BASE-B24).
pub fn is_baggage(text: &str) -> bool {
    let is_key = |key: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !key.is_empty() && key.bytes().all(fits)
    };
    let is_value = |value: &str| {
        let fits = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
        value.bytes().all(fits)
    };
    let is_pair = |pair: &str| {
        let pair = pair.split_once('=');
        pair.is_some_and(|(key, value)| is_key(trim(key)) && is_value(trim(value)))
    };
    let is_property = |property: &str| is_key(trim(property)) || is_pair(property);
    let is_member = |member: &str| {
        let mut parts = member.split(';');
        parts.next().is_some_and(is_pair) && parts.all(is_property)
    };
    text.len() <= 8192 && text.split(',').count() <= 64 && text.split(',').all(is_member)
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// Reads exactly `N` bytes of lower-case hexadecimal digits.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let pairs: &[[u8; 2]; N] = pairs.try_into().ok()?;
    let mut wrong = !rest.is_empty();
    // No early exit, so that the loop is short and straight.
    let bytes = pairs.map(|[high, low]| {
        wrong |= !is_digit(high) | !is_digit(low);
        value(high) << 4 | value(low)
    });
    (!wrong).then_some(bytes)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() | matches!(byte, b'a'..=b'f')
}

/// Value of a digit; anything for other bytes.
fn value(byte: u8) -> u8 {
    (byte & 0xf) + (byte >> 6) * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_formed_parent_names_a_trace() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let id = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128;
        assert_eq!(trace_id(good), Some(id.to_be_bytes()));
        let later = good.replace("00-0a", "01-0a") + "-more";
        assert_eq!(trace_id(&later), Some(id.to_be_bytes()));
        for bad in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-:af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
            "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-010",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-010",
            "é0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(trace_id(bad), None, "{bad}");
        }
    }
}
