use std::borrow::Cow;
use std::fmt;

use http::{HeaderMap, HeaderName};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::field::{is_read_as_is, require_text};
use super::mismatch::{HeaderMismatch, Unmirrorable};
use super::value::{decode_value, encode_value, read_plain, write_plain};
use crate::json::Key;

/// `MCP-Protocol-Version`: protocol revision of the request.
pub const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Mcp-Method`: method of the request.
pub const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`: target of the request; see [`name_member`].
pub const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Values of the body that the three standard headers repeat.
///
/// # Examples
///
/// ```
/// use http::HeaderMap;
/// use sterna_protocol::http::RequestHeaders;
///
/// let body = RequestHeaders::new("2026-07-28", "tools/call", Some("get_weather"));
/// let mut headers = HeaderMap::new();
/// body.write(&mut headers)?;
/// assert_eq!(headers["mcp-name"], "get_weather");
/// assert!(body.check(&headers).is_ok());
/// # Ok::<(), sterna_protocol::http::Unmirrorable>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHeaders<'a> {
    protocol_version: &'a str,
    method: &'a str,
    name: Option<&'a str>,
}

impl<'a> RequestHeaders<'a> {
    /// Takes the values of the body; `name` is the member that [`name_member`]
    /// returns.
    pub fn new(protocol_version: &'a str, method: &'a str, name: Option<&'a str>) -> Self {
        Self {
            protocol_version,
            method,
            name,
        }
    }

    /// Sets the headers.
    ///
    /// # Errors
    ///
    /// The revision or the method is not plain text; only the name may be
    /// encoded.
    pub fn write(&self, headers: &mut HeaderMap) -> Result<(), Unmirrorable> {
        let plain = [
            (MCP_PROTOCOL_VERSION, self.protocol_version),
            (MCP_METHOD, self.method),
        ];
        for (header, text) in plain {
            let Some(value) = write_plain(text) else {
                return Err(Unmirrorable::Value(header));
            };
            headers.insert(header, value);
        }
        if let Some(name) = self.name {
            headers.insert(MCP_NAME, encode_value(name));
        }
        Ok(())
    }

    /// Compares the headers of a request with its body.
    ///
    /// # Errors
    ///
    /// A header is missing, malformed, repeated or different.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), HeaderMismatch> {
        self.check_version(headers)?;
        self.check_target(headers)
    }

    /// Returns true if the headers repeat the body byte for byte, each of them
    /// once, which [`check`](Self::check) then accepts. False says nothing.
    pub fn is_repeated_in(&self, headers: &HeaderMap) -> bool {
        // As many values as names: no header is repeated.
        if headers.len() != headers.keys_len() {
            return false;
        }
        let mut repeated = 0;
        for (header, value) in headers {
            // Compared as names: the text of a standard one would have to be looked up.
            let text = if *header == MCP_PROTOCOL_VERSION {
                self.protocol_version
            } else if *header == MCP_METHOD {
                self.method
            } else if let Some(name) = self.name
                && *header == MCP_NAME
            {
                name
            } else {
                continue;
            };
            if value.as_bytes() != text.as_bytes() || !is_read_as_is(text) {
                return false;
            }
            repeated += 1;
        }
        repeated == 2 + u8::from(self.name.is_some())
    }

    /// Compares `MCP-Protocol-Version` only. A server needs the revision first,
    /// since it determines the other headers.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn check_version(&self, headers: &HeaderMap) -> Result<(), HeaderMismatch> {
        let version = self.protocol_version;
        require_text(headers, &MCP_PROTOCOL_VERSION, version, read_plain)
    }

    /// Compares `Mcp-Method` and `Mcp-Name`, after
    /// [`check_version`](Self::check_version).
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn check_target(&self, headers: &HeaderMap) -> Result<(), HeaderMismatch> {
        require_text(headers, &MCP_METHOD, self.method, read_plain)?;
        match self.name {
            Some(name) => require_text(headers, &MCP_NAME, name, decode_value),
            None => Ok(()),
        }
    }
}

/// Returns the member of `params` that `Mcp-Name` repeats, if the method has
/// one.
pub fn name_member(method: &str) -> Option<&'static str> {
    match method {
        "prompts/get" | "tools/call" => Some("name"),
        "resources/read" => Some("uri"),
        // TASK-C11: lets a proxy route to the instance that has the task.
        "tasks/cancel" | "tasks/get" | "tasks/update" => Some("taskId"),
        _ => None,
    }
}

/// Reads the member of raw `params` that `Mcp-Name` repeats for `method`.
///
/// Also `None` if the member is missing, repeated or not a string; decoding
/// refuses such parameters.
pub fn mirrored_name<'a>(method: &str, params: &'a RawValue) -> Option<Cow<'a, str>> {
    let member = name_member(method)?;
    params.deserialize_map(MemberNamed(member)).ok()?
}

struct MemberNamed(&'static str);

impl<'de> Visitor<'de> for MemberNamed {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if &*key != self.0 {
                map.next_value::<IgnoredAny>()?;
            } else if found
                .replace(map.next_value::<Key<'de>>()?.into_cow())
                .is_some()
            {
                return Ok(None);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    proptest! {
        #[test]
        fn headers_that_repeat_the_body_pass_the_check(
            version in "2026-07-28|2025-11-25| 2026-07-28",
            method in "tools/call|tools/list|",
            name in proptest::option::of("[a0 =?é/]{0,4}"),
            fields in proptest::collection::vec(
                (0..4_usize, "2026-07-28|2025-11-25|tools/call|tools/list|[a0 =?/]{0,4}"),
                0..5,
            ),
            written in any::<bool>(),
        ) {
            let body = RequestHeaders::new(&version, &method, name.as_deref());
            let mut headers = HeaderMap::new();
            if written {
                // The most likely headers: those of the body itself.
                let _ = body.write(&mut headers);
            }
            for (place, value) in fields {
                let names = [MCP_PROTOCOL_VERSION, MCP_METHOD, MCP_NAME, http::header::ACCEPT];
                headers.append(names[place].clone(), value.parse().unwrap());
            }
            if body.is_repeated_in(&headers) {
                prop_assert!(body.check(&headers).is_ok(), "{:?} {:?}", body, headers);
            }
        }
    }

    #[test]
    fn usual_headers_are_seen_to_repeat_the_body() {
        for name in [None, Some("echo")] {
            let body = RequestHeaders::new("2026-07-28", "tools/call", name);
            let mut headers = HeaderMap::new();
            body.write(&mut headers).unwrap();
            assert!(body.is_repeated_in(&headers));
            headers.remove(MCP_METHOD);
            assert!(!body.is_repeated_in(&headers));
        }
    }
}
