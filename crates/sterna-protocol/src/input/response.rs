use super::{InputRequest, InputResponseError, InputResponses};
use crate::elicitation::ElicitResult;
use crate::json::RawJson;
use crate::roots::ListRootsResult;
use crate::sampling::CreateMessageResult;

/// Answer to an [`InputRequest`].
///
/// An answer does not name its type; the question determines it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputResponse {
    /// Message of the model.
    CreateMessage(CreateMessageResult),
    /// Action and input of the user.
    Elicit(ElicitResult),
    /// Roots of the client.
    ListRoots(ListRootsResult),
}

variants!(InputResponse {
    CreateMessage(CreateMessageResult),
    Elicit(ElicitResult),
    ListRoots(ListRootsResult),
});

impl InputRequest {
    /// Decodes the answer to this question, which was asked under `key`. `None`
    /// if there is none.
    ///
    /// # Errors
    ///
    /// The answer is not of the type that this question asks for.
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
    /// Sets the answer under `key`.
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
