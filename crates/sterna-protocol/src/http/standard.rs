use std::borrow::Cow;
use std::fmt;

use http::{HeaderMap, HeaderName};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::field::require_text;
use super::mismatch::{HeaderMismatch, Unmirrorable};
use super::value::{decode_value, encode_value, read_plain, write_plain};
use crate::json::Key;

/// `MCP-Protocol-Version`: the revision that the request is written in.
pub const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Mcp-Method`: the method of the request.
pub const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`: what the request is about, see [`name_member`].
pub const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");

/// What the body of a request says about the three standard headers.
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
    /// `name` is the value of the member that [`name_member`] tells.
    pub fn new(protocol_version: &'a str, method: &'a str, name: Option<&'a str>) -> Self {
        Self {
            protocol_version,
            method,
            name,
        }
    }

    /// Sets the headers that the body calls for.
    ///
    /// # Errors
    ///
    /// The revision or the method is not plain text; only a name has a second
    /// form.
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
    /// A header is missing, malformed, repeated, or differs.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), HeaderMismatch> {
        self.check_version(headers)?;
        self.check_target(headers)
    }

    /// Compares the header of the revision alone: a server has to know which
    /// revision it is before it can tell what else must be there.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn check_version(&self, headers: &HeaderMap) -> Result<(), HeaderMismatch> {
        let version = self.protocol_version;
        require_text(headers, &MCP_PROTOCOL_VERSION, version, read_plain)
    }

    /// Compares the headers of the method and the name, which
    /// [`check_version`](Self::check_version) leaves.
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

/// The member of `params` that `Mcp-Name` repeats, if the method has one.
pub fn name_member(method: &str) -> Option<&'static str> {
    match method {
        "prompts/get" | "tools/call" => Some("name"),
        "resources/read" => Some("uri"),
        // TASK-C11: so that a proxy finds the instance that has the task.
        "tasks/cancel" | "tasks/get" | "tasks/update" => Some("taskId"),
        _ => None,
    }
}

/// Finds in raw `params` what `Mcp-Name` repeats for `method`.
///
/// `None` also if the member is missing, doubled or no string: such parameters
/// are refused for what they are.
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
