//! W3C trace context and baggage in `_meta`.

/// Returns the trace id of a `traceparent`; `None` if it is malformed or all
/// zeros.
pub fn trace_id(parent: &str) -> Option<[u8; 16]> {
    let mut parts = parent.split('-');
    let (version, trace, span, flags) = (
        hex(parts.next()?, 2)?,
        hex(parts.next()?, 32)?,
        hex(parts.next()?, 16)?,
        parts.next()?,
    );
    hex(flags, 2)?;
    // Version ff is reserved. Version 00 has four parts, later ones may have more.
    let ends = version != 0 || parts.next().is_none();
    (version != 0xff && trace != 0 && span != 0 && ends).then(|| trace.to_be_bytes())
}

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

fn hex(text: &str, digits: usize) -> Option<u128> {
    let fits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != digits || !text.bytes().all(fits) {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
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
        ] {
            assert_eq!(trace_id(bad), None, "{bad}");
        }
    }
}
