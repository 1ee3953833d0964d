use std::str::Utf8Error;

use thiserror::Error;

use super::{ErrorCode, ErrorObject, RequestId};
use crate::json::mismatch;

/// Why bytes were not accepted as a message.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Several messages in one array, which MCP does not have.
    #[error("a batch of messages")]
    Batch,
    /// Not a request and not a notification, and no response either.
    #[error("not a message: {fault}")]
    Invalid {
        /// The id, if one could be read.
        id: Option<RequestId>,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A known method with parameters that are not its own.
    #[error("parameters of `{method}` are malformed")]
    InvalidParams {
        /// The request; `None` for a notification.
        id: Option<RequestId>,
        /// Whose parameters they are.
        method: String,
        /// What is wrong with them.
        source: serde_json::Error,
    },
    /// A response whose envelope is not one.
    #[error("not a response: {fault}")]
    InvalidResponse {
        /// The request it answers, if that could be read.
        id: Option<RequestId>,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A result that is not of the type the request asks for.
    #[error("the result is malformed")]
    InvalidResult {
        /// The request it answers.
        id: RequestId,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Not JSON.
    #[error("not JSON")]
    Syntax(#[source] serde_json::Error),
    /// A method this side does not accept.
    #[error("unknown method `{method}`")]
    UnknownMethod {
        /// The request; `None` for a notification.
        id: Option<RequestId>,
        /// The method it names.
        method: String,
    },
    /// A result of a kind that the request cannot have or we do not know.
    #[error("unknown result type `{result_type}`")]
    UnknownResultType {
        /// The request it answers.
        id: RequestId,
        /// The kind it claims to be.
        result_type: String,
    },
    /// Not UTF-8.
    #[error("not UTF-8")]
    Utf8(#[source] Utf8Error),
}

impl DecodeError {
    /// The request to answer with an error, if there is one.
    ///
    /// A malformed *response* is never answered: its id is one of ours, and an
    /// error under it would be taken for the answer to a request of the peer.
    pub fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Invalid { id, .. }
            | Self::InvalidParams { id, .. }
            | Self::UnknownMethod { id, .. } => id.as_ref(),
            Self::Batch
            | Self::InvalidResponse { .. }
            | Self::InvalidResult { .. }
            | Self::Syntax(_)
            | Self::UnknownResultType { .. }
            | Self::Utf8(_) => None,
        }
    }

    /// The request of ours that this was meant to answer.
    ///
    /// No better answer to it will come, so its caller should hear of this.
    pub fn response_id(&self) -> Option<&RequestId> {
        match self {
            Self::InvalidResponse { id, .. } => id.as_ref(),
            Self::InvalidResult { id, .. } | Self::UnknownResultType { id, .. } => Some(id),
            Self::Batch
            | Self::Invalid { .. }
            | Self::InvalidParams { .. }
            | Self::Syntax(_)
            | Self::UnknownMethod { .. }
            | Self::Utf8(_) => None,
        }
    }
}

impl From<&DecodeError> for ErrorObject {
    /// What the peer is told: the kind of failure and its place, never a value.
    fn from(error: &DecodeError) -> Self {
        let (code, text) = match error {
            // Errors of the syntax have a position and none of the text.
            DecodeError::Syntax(error) => (ErrorCode::PARSE_ERROR, format!("Parse error: {error}")),
            DecodeError::Utf8(error) => (ErrorCode::PARSE_ERROR, format!("Parse error: {error}")),
            DecodeError::Batch => {
                let text = "Invalid request: a batch of messages; send each by itself";
                (ErrorCode::INVALID_REQUEST, text.to_owned())
            }
            DecodeError::Invalid { fault, .. } | DecodeError::InvalidResponse { fault, .. } => (
                ErrorCode::INVALID_REQUEST,
                format!("Invalid request: {fault}"),
            ),
            DecodeError::InvalidResult { .. } | DecodeError::UnknownResultType { .. } => {
                (ErrorCode::INVALID_REQUEST, "Invalid request".to_owned())
            }
            DecodeError::UnknownMethod { method, .. } => {
                let plain = method.chars().filter(|letter| !letter.is_control());
                let method: String = plain.take(LONGEST_METHOD).collect();
                let text = format!("Method not found: `{method}`");
                (ErrorCode::METHOD_NOT_FOUND, text)
            }
            DecodeError::InvalidParams { source, .. } => {
                let text = format!("Invalid params: {}", mismatch(source));
                (ErrorCode::INVALID_PARAMS, text)
            }
        };
        Self::new(code, text)
    }
}

/// Longer than any method of the protocol.
const LONGEST_METHOD: usize = 64;

/// What is wrong with an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// It both asks and answers, or answers twice.
    #[error("members that exclude each other")]
    Ambiguous,
    /// A member that counts stands in it twice.
    #[error("`{0}` stands twice")]
    Duplicate(&'static str),
    /// It neither asks nor answers.
    #[error("neither `method` nor `result` nor `error`")]
    Empty,
    /// `error` is not an error object.
    #[error("`error` is not an error object")]
    Error,
    /// `id` is missing, null, neither string nor integer, or too long.
    #[error("`id` is not an integer or a string of at most 1024 bytes")]
    Id,
    /// `method` is not a string.
    #[error("`method` is not a string")]
    Method,
    /// It is JSON, but not an object.
    #[error("not an object")]
    NotAnObject,
    /// It is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("nested too deeply")]
    TooDeep,
    /// `jsonrpc` is not "2.0".
    #[error("`jsonrpc` is not \"2.0\"")]
    Version,
}
