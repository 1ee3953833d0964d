use http::HeaderName;
use thiserror::Error;

use crate::jsonrpc::{ErrorCode, ErrorObject};
use crate::version::ProtocolVersion;

/// Difference between the headers of a request and its body.
///
/// Answer with status 400 and the [`ErrorObject`] that this converts to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderMismatch {
    /// The header and the body have different values.
    #[error("`{0}` differs from the body")]
    Differs(HeaderName),
    /// The header holds characters or Base64 that are not allowed.
    #[error("`{0}` is malformed")]
    Malformed(HeaderName),
    /// The header for a value of the body is missing.
    #[error("`{0}` is missing")]
    Missing(HeaderName),
    /// The header occurs several times, so readers may disagree on its value.
    #[error("`{0}` occurs more than once")]
    Repeated(HeaderName),
    /// The header has no value in the body.
    #[error("`{0}` has no value in the body")]
    Unexpected(HeaderName),
    /// A value of the body cannot be sent in a header.
    #[error(transparent)]
    Unmirrorable(#[from] Unmirrorable),
}

impl From<&HeaderMismatch> for ErrorObject {
    /// Builds the error for the peer. It names the header, never a value.
    fn from(mismatch: &HeaderMismatch) -> Self {
        let message = match mismatch {
            HeaderMismatch::Differs(header) => {
                format!("{header} does not match the body; send the value that the body has")
            }
            HeaderMismatch::Malformed(header) => {
                format!("{header} is malformed; send plain ASCII, or `=?base64?…?=`")
            }
            // The body may have no version either.
            HeaderMismatch::Missing(header) if header.as_str() == "mcp-protocol-version" => {
                let latest = ProtocolVersion::LATEST;
                format!("{header} is missing; send `{header}: {latest}`, as in `_meta` of the body")
            }
            HeaderMismatch::Missing(header) => {
                format!("{header} is missing; send it with the value that the body has")
            }
            HeaderMismatch::Repeated(header) => format!("{header} is repeated; send it once"),
            HeaderMismatch::Unexpected(header) => {
                format!("{header} has no value in the body; leave it out")
            }
            HeaderMismatch::Unmirrorable(Unmirrorable::Arguments) => {
                "the arguments are not an object, or name a mirrored parameter twice".to_owned()
            }
            HeaderMismatch::Unmirrorable(Unmirrorable::Value(header)) => {
                format!("{header} cannot carry the value in the body")
            }
        };
        Self::new(
            ErrorCode::HEADER_MISMATCH,
            format!("Header mismatch: {message}"),
        )
    }
}

/// Value of a body that cannot be sent in a header.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unmirrorable {
    /// The arguments are not an object, or name a mirrored parameter twice.
    #[error("the arguments are not an object, or name a mirrored parameter twice")]
    Arguments,
    /// The value for this header is an array, an object, a fraction, an integer
    /// beyond ±(2^53 − 1) or, for a header that is never encoded, not plain
    /// text.
    #[error("the value for `{0}` cannot be sent in a header")]
    Value(HeaderName),
}
