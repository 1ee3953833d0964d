//! Requests that end without an outcome of their handler, and the one place
//! where that becomes a text for the client.

use std::error::Error;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use http::StatusCode;
use http::header::{CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};

use crate::problem::Problem;
use crate::stored_response::NotKept;

/// Reason for which a request ends without an outcome of its handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The body has a member twice, so readers may differ over it.
    AmbiguousBody,
    /// A secret was answered wrongly as often as it may be.
    Attempts,
    /// An equal request is being served.
    Busy,
    /// The time of an operation is up.
    Expired,
    /// The log has the cause.
    Internal,
    /// The `Idempotency-Key` has another form than a key.
    KeyMalformed,
    /// There is no `Idempotency-Key`, and the route requires one.
    KeyMissing,
    /// The `Idempotency-Key` was used for another request.
    KeyReused,
    /// An earlier version of the application began the operation.
    OldVersion,
    /// The state was refused. The reason is for the log.
    Refused(&'static str),
    /// The flow asks more often than it may.
    Rounds,
    /// The body is larger than allowed, or could not be read.
    TooLarge,
    /// The caller has as many unfinished operations as it may have.
    TooManyOperations,
    /// The application does not know the caller.
    Unauthorized,
}

impl Fault {
    /// Logs what is broken.
    pub(crate) fn broken(what: &str, error: &(dyn Error + 'static)) -> Self {
        tracing::error!(target: "sterna::axum", error, "{what}");
        Self::Internal
    }

    /// Returns `true` if the same request would end in the same way again.
    pub(crate) const fn is_final(self) -> bool {
        matches!(self, Self::Attempts | Self::Rounds)
    }

    /// Returns the response as a store keeps it.
    pub(crate) fn to_stored(self) -> Bytes {
        self.to_problem().to_stored()
    }

    fn to_problem(self) -> Problem {
        let (status, name, title) = match self {
            Self::AmbiguousBody => (
                StatusCode::BAD_REQUEST,
                "ambiguous-body",
                "The body is not a JSON object in which each name is there once",
            ),
            Self::Attempts => (
                StatusCode::FORBIDDEN,
                "too-many-attempts",
                "The answer was wrong too often; begin again",
            ),
            Self::Busy => (
                StatusCode::CONFLICT,
                "in-progress",
                "An equal request is being served",
            ),
            Self::Expired => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "operation-expired",
                "The operation was not finished in its time",
            ),
            Self::Internal => {
                return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal error");
            }
            Self::KeyMalformed => (
                StatusCode::BAD_REQUEST,
                "idempotency-key-malformed",
                "An Idempotency-Key has 1 to 255 visible characters",
            ),
            Self::KeyMissing => (
                StatusCode::BAD_REQUEST,
                "idempotency-key-missing",
                "This route requires an Idempotency-Key",
            ),
            Self::KeyReused => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency-key-reused",
                "The Idempotency-Key was used for another request",
            ),
            Self::OldVersion => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "old-version",
                "The operation was begun by an earlier version; begin again",
            ),
            // One text for every reason: the peer must not learn which check stopped it.
            Self::Refused(_) => (
                StatusCode::BAD_REQUEST,
                "resume-refused",
                "The request cannot be resumed; begin again",
            ),
            Self::Rounds => (
                StatusCode::FORBIDDEN,
                "too-many-rounds",
                "The request has asked as often as it may; begin again",
            ),
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "body-too-large",
                "The body is too large",
            ),
            Self::TooManyOperations => (
                StatusCode::TOO_MANY_REQUESTS,
                "too-many-operations",
                "Too many operations are unfinished; wait for some, or cancel them",
            ),
            Self::Unauthorized => (
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "The caller is not known",
            ),
        };
        Problem::ours(status, name, title)
    }
}

impl From<NotKept> for Fault {
    fn from(_: NotKept) -> Self {
        Self::Internal
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.to_problem().into_response();
        let headers = response.headers_mut();
        match self {
            Self::Busy | Self::TooManyOperations => {
                headers.insert(RETRY_AFTER, A_SECOND);
            }
            // The rest of the body is not read.
            Self::TooLarge => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Self::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

/// Pause that a client is asked to make before it repeats a request that could
/// not be served now.
const A_SECOND: HeaderValue = HeaderValue::from_static("1");
