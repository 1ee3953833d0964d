use std::str::Utf8Error;

use thiserror::Error;

use super::{ErrorCode, ErrorObject, RequestId};
use crate::json::mismatch;

/// Bytes that cannot be decoded as a message.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Several messages in one array, which MCP does not allow.
    #[error("a batch of messages, which MCP does not allow")]
    Batch,
    /// An object that is neither a request nor a notification nor a response.
    #[error("not a message: {fault}")]
    Invalid {
        /// Id, if it could be read.
        id: Option<RequestId>,
        /// Violation of the envelope's rules.
        fault: Fault,
    },
    /// A known method with malformed parameters.
    #[error("parameters of `{method}` are malformed")]
    InvalidParams {
        /// Id of the request; `None` for a notification.
        id: Option<RequestId>,
        /// Method of the parameters.
        method: String,
        /// Difference between the parameters and their type.
        source: serde_json::Error,
    },
    /// A response with a malformed envelope.
    #[error("not a response: {fault}")]
    InvalidResponse {
        /// Id of the request that it answers, if it could be read.
        id: Option<RequestId>,
        /// Violation of the envelope's rules.
        fault: Fault,
    },
    /// A result that is not of the type of its request.
    #[error("the result is malformed")]
    InvalidResult {
        /// Id of the request that it answers.
        id: RequestId,
        /// Violation of the envelope's rules.
        source: serde_json::Error,
    },
    /// Text that is not JSON.
    #[error("not JSON")]
    Syntax(#[source] serde_json::Error),
    /// A method that this side does not accept.
    #[error("unknown method `{method}`")]
    UnknownMethod {
        /// Id of the request; `None` for a notification.
        id: Option<RequestId>,
        /// Method that the message names.
        method: String,
    },
    /// A result of a type that the request cannot have or this side does not
    /// know.
    #[error("unknown result type `{result_type}`")]
    UnknownResultType {
        /// Id of the request that it answers.
        id: RequestId,
        /// Value of `resultType`.
        result_type: String,
    },
    /// Bytes that are not UTF-8.
    #[error("not UTF-8")]
    Utf8(#[source] Utf8Error),
}

impl DecodeError {
    /// The id of the request to answer with an error, if there is one.
    ///
    /// `None` for a malformed response: its id belongs to a request of this
    /// side. An error under that id would be taken for the answer to a request
    /// of the peer.
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

    /// The id of the request of this side that the message should answer.
    ///
    /// No other answer will follow, so the caller of the request should get
    /// this error.
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
    /// Builds the error for the peer: the kind of failure and its position,
    /// never a value.
    fn from(error: &DecodeError) -> Self {
        let (code, text) = match error {
            // Syntax errors hold a position, but none of the text.
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

/// Violation of the rules for an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// Members of a request and a response, or `result` and `error` together.
    #[error("members of both a request and a response, or both `result` and `error`")]
    Ambiguous,
    /// A member of the envelope occurs twice.
    #[error("`{0}` occurs twice")]
    Duplicate(&'static str),
    /// Neither a request nor a response.
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
    /// JSON that is not an object.
    #[error("not an object")]
    NotAnObject,
    /// Nesting deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("nested more than 127 levels deep")]
    TooDeep,
    /// `jsonrpc` is not "2.0".
    #[error("`jsonrpc` is not \"2.0\"")]
    Version,
}
