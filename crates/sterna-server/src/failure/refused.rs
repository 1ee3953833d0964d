use sterna_protocol::elicitation::ElicitAction;

/// Why a question has no answer.
///
/// Returned from a tool with `?` it becomes a result that tells the model so
/// politely; a `match` sees which it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
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

impl Refused {
    /// What an action says apart from the content; `None` for one that nobody
    /// defined.
    pub(crate) fn from_action(action: &ElicitAction) -> Option<Result<(), Self>> {
        match action {
            ElicitAction::Accept => Some(Ok(())),
            ElicitAction::Cancel => Some(Err(Self::Cancelled)),
            ElicitAction::Decline => Some(Err(Self::Declined)),
            _ => None,
        }
    }
}
