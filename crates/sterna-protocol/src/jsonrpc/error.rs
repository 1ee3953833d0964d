use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// JSON-RPC error of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorObject {
    /// Kind of failure, for programs.
    pub code: ErrorCode,
    /// Short sentence for people.
    pub message: String,
    /// Data of the code, or any other JSON. `Some(Null)` is a null that was
    /// sent, `None` a missing member.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub data: Option<Value>,
    /// Members that this revision does not define.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ErrorObject {
    /// Creates an error without data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            extra: Map::new(),
        }
    }

    /// Adds `data`.
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

/// Number that names the kind of failure of an [`ErrorObject`].
///
/// Any integer can arrive. The constants are those that JSON-RPC and MCP
/// define.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[expect(
    clippy::exhaustive_structs,
    reason = "JSON-RPC says that a code is an integer and nothing else"
)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The text is not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON is not a valid JSON-RPC message.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method does not exist or was not advertised.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The method exists, but its parameters are invalid.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver failed.
    pub const INTERNAL_ERROR: Self = Self(-32603);

    /// HTTP headers are missing, malformed or contradict the body.
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The request needs a capability that the client did not declare on it.
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The server does not speak the revision that the request names.
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32022);

    /// 2025-11-25 and earlier: the resource does not exist. Accepted from older
    /// peers; modern peers get [`INVALID_PARAMS`](Self::INVALID_PARAMS).
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
