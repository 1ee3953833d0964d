use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Why a request was not answered with a result, as the peer is told it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorObject {
    /// What kind of failure it was; programs decide by this.
    pub code: ErrorCode,
    /// One short sentence for people.
    pub message: String,
    /// What the code promises, or whatever the sender saw fit; a null that was
    /// sent is kept apart from nothing.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub data: Option<Value>,
    /// Members this revision does not know, kept for the way back.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            extra: Map::new(),
        }
    }

    /// The same error carrying `data`.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The number that says what kind of failure an [`ErrorObject`] reports.
///
/// Any integer can arrive; the constants are those that JSON-RPC and MCP give
/// a meaning to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[expect(
    clippy::exhaustive_structs,
    reason = "JSON-RPC says that a code is an integer and nothing else"
)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The text was not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON was not a JSON-RPC message of the kind expected.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// No such method here, or none that was advertised.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The method exists, its parameters were not acceptable.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver could not do its work.
    pub const INTERNAL_ERROR: Self = Self(-32603);

    /// HTTP headers are missing, malformed or contradict the body.
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The request needs a capability that the client did not declare on it.
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The server does not speak the revision that the request names.
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32022);

    /// 2025-11-25 and earlier: no such resource. Read, never sent to a modern
    /// peer, which gets [`INVALID_PARAMS`](Self::INVALID_PARAMS).
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// 2025-11-25 only: the user must visit a URL first.
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn survives(json: &str) {
        let error: ErrorObject = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&error).unwrap(), json);
    }

    #[test]
    fn an_error_survives_a_round_trip_with_all_it_carries() {
        survives(r#"{"code":-32602,"message":"no such tool"}"#);
        survives(r#"{"code":1,"message":"","data":null}"#);
        survives(r#"{"code":1,"message":"","data":{"a":[1.5]},"severity":"low"}"#);
    }

    #[test]
    fn an_error_needs_an_integer_code_and_a_message() {
        for json in [
            r#"{"message":"m"}"#,
            r#"{"code":1}"#,
            r#"{"code":"1","message":"m"}"#,
            r#"{"code":1.5,"message":"m"}"#,
            r#"{"code":1,"code":2,"message":"m"}"#,
            r#"[1,"m"]"#,
        ] {
            assert!(serde_json::from_str::<ErrorObject>(json).is_err(), "{json}");
        }
    }
}
