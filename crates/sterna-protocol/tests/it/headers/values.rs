use http::HeaderValue;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use sterna_protocol::http::{decode_value, encode_value};

/// Text, and the header value that stands for it.
const ENCODED: &[(&str, &str)] = &[
    ("us-west1", "us-west1"),
    ("us west 1", "us west 1"),
    ("", ""),
    ("~!@#$%^&*()=?;,\"\\'", "~!@#$%^&*()=?;,\"\\'"),
    (
        "file:///projects/my%20app/config.json?a=1#b",
        "file:///projects/my%20app/config.json?a=1#b",
    ),
    ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    ("日本語", "=?base64?5pel5pys6Kqe?="),
    (" padded ", "=?base64?IHBhZGRlZCA=?="),
    (" us-west1", "=?base64?IHVzLXdlc3Qx?="),
    ("us-west1 ", "=?base64?dXMtd2VzdDEg?="),
    ("\tindented", "=?base64?CWluZGVudGVk?="),
    ("a\tb", "=?base64?YQli?="),
    ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
    ("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="),
    ("\u{0}", "=?base64?AA==?="),
    ("\u{7f}", "=?base64?fw==?="),
    ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ("=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="),
    ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
    ("=?base64?open", "=?base64?open"),
    ("closed?=", "closed?="),
    ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
];

#[test]
fn text_is_encoded_only_if_it_would_not_arrive() {
    for (text, value) in ENCODED {
        assert_eq!(encode_value(text), value, "{text:?}");
    }
}

#[test]
fn what_was_encoded_is_decoded() {
    for (text, value) in ENCODED {
        let value = HeaderValue::from_str(value).unwrap();
        assert_eq!(decode_value(&value).as_deref(), Ok(*text));
    }
}

#[test]
fn values_that_others_write_are_read() {
    for (value, text) in [
        ("a\tb", "a\tb"),
        (" \tfoo \t", "foo"),
        ("=?base64?SGVsbG8=?=", "Hello"),
        (" =?base64?SGVsbG8=?= ", "Hello"),
        ("=?base64??=", ""),
        ("SGVsbG8=", "SGVsbG8="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("SGVsbG8=?=", "SGVsbG8=?="),
        ("=?Base64?SGVsbG8=?=", "=?Base64?SGVsbG8=?="),
        ("=?base64?=", "=?base64?="),
    ] {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        assert_eq!(decode_value(&value).as_deref(), Ok(text), "{value:?}");
    }
}

#[test]
fn malformed_values_are_refused() {
    for value in [
        &b"=?base64?SGVsbG8?="[..],
        b"=?base64?SGVs!!!bG8=?=",
        b"=?base64?SGVsbG9=?=",
        b"=?base64?SGVs bG8=?=",
        b"=?base64?SGVsbG8-_w==?=",
        b"=?base64?/w==?=",
        b"caf\xc3\xa9",
        b"\xff",
    ] {
        let value = HeaderValue::from_bytes(value).unwrap();
        assert!(decode_value(&value).is_err(), "{value:?}");
    }
}

proptest! {
    #[test]
    fn any_text_survives_a_header(text in any::<String>()) {
        let value = encode_value(&text);
        prop_assert!(value.to_str().is_ok_and(|v| v.trim() == v && !v.contains('\t')));
        prop_assert_eq!(decode_value(&value).unwrap(), text);
    }
}
