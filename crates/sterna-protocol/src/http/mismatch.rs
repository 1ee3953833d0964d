use http::HeaderName;
use thiserror::Error;

use crate::jsonrpc::{ErrorCode, ErrorObject};
use crate::version::ProtocolVersion;

/// Why the headers of a request are not those that its body calls for.
///
/// The answer is the status 400 and the [`ErrorObject`] that this turns into.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderMismatch {
    /// The header and the body say different things.
    #[error("`{0}` differs from the body")]
    Differs(HeaderName),
    /// The header holds characters or Base64 that it must not hold.
    #[error("`{0}` is malformed")]
    Malformed(HeaderName),
    /// The body has the value, the header is not there.
    #[error("`{0}` is missing")]
    Missing(HeaderName),
    /// The header is there several times, so readers may differ over it.
    #[error("`{0}` stands more than once")]
    Repeated(HeaderName),
    /// The header is there, the body has no value for it.
    #[error("`{0}` repeats a value that the body does not have")]
    Unexpected(HeaderName),
    /// The body has something that no header can repeat.
    #[error(transparent)]
    Unmirrorable(#[from] Unmirrorable),
}

impl From<&HeaderMismatch> for ErrorObject {
    /// What the peer is told: the header it is about, never a value.
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
                "the arguments cannot be compared".to_owned()
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

/// Something in a body that has no form in a header.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unmirrorable {
    /// The arguments are not an object, or name a mirrored parameter twice.
    #[error("the arguments cannot be mirrored")]
    Arguments,
    /// The value for this header is a structure, a fraction, an integer beyond
    /// ±(2^53 − 1), or, where only plain text is allowed, not plain.
    #[error("the value for `{0}` has no form in a header")]
    Value(HeaderName),
}
