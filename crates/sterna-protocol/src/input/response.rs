use super::{InputRequest, InputResponseError, InputResponses};
use crate::elicitation::ElicitResult;
use crate::roots::ListRootsResult;
use crate::sampling::CreateMessageResult;

/// The answer to an [`InputRequest`].
///
/// Nothing in an answer says which kind it is; only the question does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputResponse {
    /// What the model wrote.
    CreateMessage(CreateMessageResult),
    /// What the user did.
    Elicit(ElicitResult),
    /// The client's roots.
    ListRoots(ListRootsResult),
}

variants!(InputResponse {
    CreateMessage(CreateMessageResult),
    Elicit(ElicitResult),
    ListRoots(ListRootsResult),
});

impl InputRequest {
    /// Reads the answer to this question, which was asked under `key`; `None`
    /// if there is none.
    ///
    /// # Errors
    ///
    /// There is one, but it is not an answer to this question.
    pub fn response_in(
        &self,
        responses: &InputResponses,
        key: &str,
    ) -> Result<Option<InputResponse>, InputResponseError> {
        Ok(match self {
            Self::CreateMessage(_) => responses.decode(key)?.map(InputResponse::CreateMessage),
            Self::Elicit(_) => responses.decode(key)?.map(InputResponse::Elicit),
            Self::ListRoots(_) => responses.decode(key)?.map(InputResponse::ListRoots),
        })
    }
}
