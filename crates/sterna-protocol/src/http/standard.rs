use std::borrow::Cow;
use std::fmt;

use http::{HeaderMap, HeaderName};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::field::require_text;
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
