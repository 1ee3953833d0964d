use sterna_protocol::elicitation::ElicitAction;
use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};

use super::{Failure, Kind};

/// Error of a prompt, a resource or an extension, as the client is told it.
///
/// Unlike a tool, neither has a result that could say that something failed.
/// Any `std::error::Error` becomes one through `?`; its text goes to the log
/// and the client learns that there was an internal error.
#[derive(Debug)]
pub struct RequestError(Box<ErrorObject>);

impl RequestError {
    /// The client is to blame: `message` says for what.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// There is no resource at `uri`.
    pub fn not_found(uri: &str) -> Self {
        Self::of(
            Failure::unknown(Kind::Resource, uri.to_owned(), [].into_iter())
                .to_wire()
                .1,
        )
    }

    /// The user did not answer.
    pub fn refused(refused: AskError) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, refused.to_string())
    }

    /// Something of the server is wrong, in words for the client.
    pub(crate) fn internal(message: String) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, message)
    }

    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::of(ErrorObject::new(code, message))
    }

    /// The client gets `error` as it is, such as that of another server.
    pub fn of(error: ErrorObject) -> Self {
        Self(Box::new(error))
    }

    /// The error as the client gets it.
    #[must_use]
    pub fn as_object(&self) -> &ErrorObject {
        &self.0
    }

    pub(crate) fn to_wire(&self) -> ErrorObject {
        ErrorObject::clone(&self.0)
    }
}

impl<E: std::error::Error + 'static> From<E> for RequestError {
    fn from(error: E) -> Self {
        let any: &dyn std::error::Error = &error;
        if let Some(refused) = any.downcast_ref::<AskError>() {
            return Self::refused(*refused);
        }
        tracing::error!(target: "sterna::handler", error = any, "a handler failed");
        Self::new(ErrorCode::INTERNAL_ERROR, "Internal error")
    }
}

/// Reason that a question has no answer.
///
/// Returned from a tool with `?` it becomes a result that tells the model so
/// politely; a `match` sees which it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The user went away without saying anything.
    #[error("The user did not answer.")]
    Cancelled,
    /// The client cannot be asked such a question, and the author chose to go
    /// on without.
    #[error("The client cannot ask the user.")]
    CannotAsk,
    /// The user said no.
    #[error("The user declined.")]
    Declined,
    /// The deadline of the question has passed.
    #[error("The user did not answer in time.")]
    TooLate,
}

impl AskError {
    /// Converts an action without its content; `None` for an action that the
    /// specification does not define.
    pub(crate) fn from_action(action: &ElicitAction) -> Option<Result<(), Self>> {
        match action {
            ElicitAction::Accept => Some(Ok(())),
            ElicitAction::Cancel => Some(Err(Self::Cancelled)),
            ElicitAction::Decline => Some(Err(Self::Declined)),
            _ => None,
        }
    }
}
