//! Absolute URIs, validated as text.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use thiserror::Error;

/// URI with a scheme, as in RFC 3986.
///
/// # Examples
///
/// ```
/// use sterna_protocol::uri::Uri;
///
/// let uri: Uri = "https://example.com/pay?berth=7".parse()?;
/// assert_eq!(uri.scheme(), "https");
/// assert!("/pay?berth=7".parse::<Uri>().is_err());
/// # Ok::<(), sterna_protocol::uri::InvalidUri>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Uri(String);

impl Uri {
    /// The URI as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The scheme as written. Schemes are compared without regard to case.
    pub fn scheme(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Uri {
    type Err = InvalidUri;

    fn from_str(text: &str) -> Result<Self, InvalidUri> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for Uri {
    type Error = InvalidUri;

    fn try_from(text: String) -> Result<Self, InvalidUri> {
        is_uri(&text).then_some(Self(text)).ok_or(InvalidUri)
    }
}

impl Serialize for Uri {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Uri {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Text that is not an absolute URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not an absolute URI")]
#[non_exhaustive]
pub struct InvalidUri;

/// Checks the grammar of an RFC 3986 `URI`, which has a scheme.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    is_scheme(scheme)
        && is_authority(authority)
        && is_run_of(path, b"/:@")
        && is_run_of(query, b"/:@?")
        && is_run_of(fragment, b"/:@?")
}

fn is_scheme(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(allowed)
}

fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    let (host, port) = match host.rsplit_once(':') {
        // The colons of an address literal are inside its brackets.
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (host, ""),
    };
    let literal = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    is_run_of(user, b":")
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && match literal {
            Some(literal) => !literal.is_empty() && is_run_of(literal, b":"),
            None => is_run_of(host, b""),
        }
}

/// Checks for unreserved characters, sub-delimiters, percent codes and the
/// bytes of `also`.
fn is_run_of(text: &str, also: &[u8]) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |next: Option<u8>| next.is_some_and(|next| next.is_ascii_hexdigit());
        let allowed = match byte {
            b'%' => hex(bytes.next()) && hex(bytes.next()),
            _ => {
                byte.is_ascii_alphanumeric()
                    || b"-._~!$&'()*+,;=".contains(&byte)
                    || also.contains(&byte)
            }
        };
        if !allowed {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_a_scheme_and_no_stray_characters() {
        for text in [
            "https://example.com",
            "https://u:p@example.com:8443/a/b;c?d=/e?f#g/h?",
            "mailto:a@b.example",
            "urn:isbn:0451450523",
            "file:///etc/fstab",
            "http://[2001:db8::7]:80/c",
            "http://[v1.a:b]/",
            "x:",
            "data:text/plain,a%20b",
            "http://example.com?query",
            "http://192.0.2.1/",
        ] {
            assert!(text.parse::<Uri>().is_ok(), "{text:?}");
        }
        for text in [
            "",
            "/abc",
            "//example.com/a",
            "example.com",
            ":x",
            "1x:y",
            "http://a b",
            "http:/\\",
            "http://a/%2",
            "http://a/%zz",
            "http://a/#b#c",
            "http://[::1",
            "http://[]/",
            "http://a:b/",
            "http://é.example",
            "a/b:c",
            "http://a/[b]",
            "http://a/\n",
        ] {
            assert!(text.parse::<Uri>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_scheme_is_what_stands_before_the_first_colon() {
        assert_eq!("urn:isbn:0".parse::<Uri>().unwrap().scheme(), "urn");
    }
}
