use super::{InputRequest, InputResponseError, InputResponses};
use crate::elicitation::ElicitResult;
use crate::json::RawJson;
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

impl InputResponses {
    /// Answers the question `key`.
    ///
    /// # Panics
    ///
    /// Never: every answer has a JSON form.
    pub fn insert(&mut self, key: impl Into<String>, response: impl Into<InputResponse>) {
        let json = RawJson::of(&response.into()).expect("wire structs have string keys only");
        self.insert_raw(key.into(), json);
    }
}

impl<K: Into<String>, R: Into<InputResponse>> FromIterator<(K, R)> for InputResponses {
    fn from_iter<I: IntoIterator<Item = (K, R)>>(answers: I) -> Self {
        let mut responses = Self::new();
        for (key, response) in answers {
            responses.insert(key, response);
        }
        responses
    }
}
