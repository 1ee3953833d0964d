//! Why a request has no result, and the one place where that becomes text.

use http::StatusCode;
use serde_json::json;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::errors::{MissingRequiredClientCapability, UnsupportedProtocolVersion};
use sterna_protocol::http::HeaderMismatch;
use sterna_protocol::jsonrpc::{DecodeError, ErrorCode, ErrorObject};
use sterna_protocol::version::ProtocolVersion;
use sterna_seal::OpenError;

use crate::edge::Refusal;
use crate::handler::RequestError;

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The tool is not to be called this way: as a task, or not as one. Says
    /// which.
    AsTask(&'static str),
    /// The client did not declare what the request needs.
    Capability(Box<ClientCapabilities>),
    /// The client has more questions open than it may.
    Crowded,
    /// The message cannot be read.
    Decode(DecodeError),
    /// The edge's rules forbid it: too often, or without the scope.
    Forbidden(Box<Refusal>),
    /// The author's handler refuses.
    Handler(RequestError),
    /// The headers are not those of the body.
    Header(HeaderMismatch),
    /// Something of ours is broken. It was logged where it was found.
    Internal,
    /// A part of the parameters is not acceptable; says which.
    Params(&'static str),
    /// The flow wants to go back to the client more often than it may.
    Rounds,
    /// The request state is not ours, not for this request, or too old. Which
    /// it was has been logged.
    State,
    /// The call took longer than it may.
    TimedOut,
    /// The tool failed, in words for the model.
    Tool(String),
    /// The client did not answer what it was asked; says why, for the model too.
    Unanswered(&'static str),
    /// There is nothing of that name.
    Unknown(Kind),
    /// There is no such method.
    UnknownMethod,
    /// A revision that is not served.
    Version(ProtocolVersion),
}

/// What there is none of.
#[derive(Debug)]
pub(crate) enum Kind {
    Prompt,
    Resource(String),
    Template,
    Tool,
}

impl Failure {
    /// The answer: the only place where a failure becomes text a peer can read.
    pub(crate) fn to_wire(&self) -> (StatusCode, ErrorObject) {
        const BAD: StatusCode = StatusCode::BAD_REQUEST;
        match self {
            Self::AsTask(why) => (
                StatusCode::OK,
                ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, *why),
            ),
            Self::Capability(missing) => {
                let missing = MissingRequiredClientCapability::new((**missing).clone());
                (BAD, (&missing).into())
            }
            Self::Crowded => internal(
                StatusCode::SERVICE_UNAVAILABLE,
                "Too much is open in this session",
            ),
            Self::Decode(error) => match error {
                DecodeError::UnknownMethod { .. } => Self::UnknownMethod.to_wire(),
                other => (BAD, other.into()),
            },
            Self::Forbidden(refusal) => match **refusal {
                Refusal::Throttled { .. } => internal(
                    StatusCode::TOO_MANY_REQUESTS,
                    "Too many questions, slow down",
                ),
                _ => internal(StatusCode::FORBIDDEN, "Not allowed"),
            },
            Self::Handler(error) => (StatusCode::OK, error.to_wire()),
            Self::Header(mismatch) => (BAD, mismatch.into()),
            Self::Internal => internal(StatusCode::INTERNAL_SERVER_ERROR, "Internal error"),
            Self::Params(what) => (BAD, invalid(format!("Invalid params: {what}"))),
            Self::Rounds => internal(StatusCode::OK, "The request needs more rounds than allowed"),
            // One text for every reason: the peer must not learn which check stopped it (MRTR-S4).
            Self::State => (
                BAD,
                invalid(OpenError::WIRE_MESSAGE)
                    .with_data(json!({"reason": OpenError::WIRE_REASON})),
            ),
            Self::TimedOut => internal(StatusCode::GATEWAY_TIMEOUT, "The call took too long"),
            Self::Tool(_) => internal(StatusCode::OK, "The request was not served"),
            Self::Unanswered(why) => internal(StatusCode::OK, why),
            Self::Unknown(kind) => (StatusCode::OK, unknown(kind)),
            // HTTP-S12
            Self::UnknownMethod => (
                StatusCode::NOT_FOUND,
                ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "Method not found"),
            ),
            Self::Version(requested) => {
                let supported = vec![ProtocolVersion::V2026_07_28];
                let refusal = UnsupportedProtocolVersion::new(requested.clone(), supported);
                (BAD, (&refusal).into())
            }
        }
    }
}

impl Failure {
    /// The answer within a session of the older revisions, which say most
    /// things in the same way.
    pub(crate) fn to_legacy_wire(&self) -> ErrorObject {
        match self {
            Self::Unknown(Kind::Resource(uri)) => {
                ErrorObject::new(ErrorCode::RESOURCE_NOT_FOUND, "Resource not found")
                    .with_data(json!({ "uri": uri }))
            }
            failure => failure.to_wire().1,
        }
    }
}

fn unknown(kind: &Kind) -> ErrorObject {
    match kind {
        Kind::Prompt => invalid("Unknown prompt"),
        // RES-S7, RES-S14
        Kind::Resource(uri) => invalid("Unknown resource").with_data(json!({ "uri": uri })),
        Kind::Template => invalid("Unknown prompt or resource template"),
        Kind::Tool => invalid("Unknown tool"),
    }
}

fn invalid(message: impl Into<String>) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, message)
}

fn internal(status: StatusCode, message: &str) -> (StatusCode, ErrorObject) {
    (status, ErrorObject::new(ErrorCode::INTERNAL_ERROR, message))
}
