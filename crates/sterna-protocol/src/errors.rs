//! Errors that MCP defines, and their data.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::capabilities::ClientCapabilities;
use crate::jsonrpc::{ErrorCode, ErrorObject};
use crate::version::ProtocolVersion;

/// Error that 2026-07-28 defines, read from an [`ErrorObject`].
///
/// # Examples
///
/// ```
/// use sterna_protocol::errors::{ProtocolError, UnsupportedProtocolVersion};
/// use sterna_protocol::jsonrpc::ErrorObject;
/// use sterna_protocol::version::ProtocolVersion;
///
/// let refusal = UnsupportedProtocolVersion::new("1900-01-01".into(), ProtocolVersion::KNOWN.to_vec());
/// let error = ErrorObject::from(&refusal);
///
/// let found = ProtocolError::find(&error)?;
/// assert_eq!(found, Some(ProtocolError::UnsupportedProtocolVersion(refusal)));
/// # Ok::<(), sterna_protocol::errors::MalformedErrorData>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// HTTP headers are missing, malformed or contradict the body.
    HeaderMismatch,
    /// The request needs a capability that the client did not declare on it.
    MissingRequiredClientCapability(MissingRequiredClientCapability),
    /// The server does not speak the revision that the request names.
    UnsupportedProtocolVersion(UnsupportedProtocolVersion),
}

impl ProtocolError {
    /// Reads the data of `error`. `None` if its code is not one of these three.
    ///
    /// # Errors
    ///
    /// The data is missing, or not of the type that belongs to the code.
    pub fn find(error: &ErrorObject) -> Result<Option<Self>, MalformedErrorData> {
        match error.code {
            ErrorCode::HEADER_MISMATCH => Ok(Some(Self::HeaderMismatch)),
            ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => data(error)
                .map(Self::MissingRequiredClientCapability)
                .map(Some),
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
                data(error).map(Self::UnsupportedProtocolVersion).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Reads the data of `error` as the type that belongs to its code.
pub(crate) fn data<T: DeserializeOwned>(error: &ErrorObject) -> Result<T, MalformedErrorData> {
    let data = error.data.clone().unwrap_or(Value::Null);
    serde_json::from_value(data).map_err(|source| MalformedErrorData {
        code: error.code,
        source,
    })
}

pub(crate) fn with_data<T: Serialize>(
    code: ErrorCode,
    message: impl Into<String>,
    data: &T,
) -> ErrorObject {
    let data = serde_json::to_value(data).expect("wire structs have string keys only");
    ErrorObject::new(code, message).with_data(data)
}

/// Data of an error that is not of the type belonging to its code.
#[derive(Debug, Error)]
#[error("the data of an error {code} is malformed")]
#[non_exhaustive]
pub struct MalformedErrorData {
    /// Code of the error.
    pub code: ErrorCode,
    /// Difference between the data and its type.
    pub source: serde_json::Error,
}

wire! {
    /// Data of error −32021: a capability that the client did not declare.
    pub struct MissingRequiredClientCapability {
        required {
            /// Capabilities that the client must declare for the request.
            required_capabilities: ClientCapabilities = "requiredCapabilities",
        }
    }

    /// Asks the client to declare `required_capabilities`.
    new(required_capabilities: ClientCapabilities);
}

impl From<&MissingRequiredClientCapability> for ErrorObject {
    fn from(missing: &MissingRequiredClientCapability) -> Self {
        let names = missing.required_capabilities.names().join("`, `");
        with_data(
            ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
            format!("Missing required client capability `{names}`"),
            missing,
        )
    }
}

wire! {
    /// Data of error −32022: a protocol version that the server does not speak.
    pub struct UnsupportedProtocolVersion {
        required {
            /// Version that the request names.
            requested: ProtocolVersion = "requested",
            /// Versions that the server speaks.
            supported: Vec<ProtocolVersion> = "supported",
        }
    }

    /// Refuses the version `requested` in favour of those `supported`.
    new(requested: ProtocolVersion, supported: Vec<ProtocolVersion>);
}

impl From<&UnsupportedProtocolVersion> for ErrorObject {
    fn from(unsupported: &UnsupportedProtocolVersion) -> Self {
        let spoken: Vec<&str> = unsupported
            .supported
            .iter()
            .map(ProtocolVersion::as_str)
            .collect();
        let (requested, spoken) = (unsupported.requested.as_str(), spoken.join(", "));
        with_data(
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            format!("Unsupported protocol version `{requested}`; this server speaks {spoken}"),
            unsupported,
        )
    }
}
