use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::InputResponse;
use crate::json::{JsonObject, RawJson};

/// A client's answers, each under the key of its question.
///
/// Only the question tells what kind of answer belongs to it, so answers stay
/// as they came until they are asked for. An answer nobody asks for is never
/// looked at, however broken.
///
/// # Examples
///
/// ```
/// use sterna_protocol::elicitation::{ElicitAction, ElicitResult};
/// use sterna_protocol::input::InputResponses;
///
/// let responses: InputResponses =
///     serde_json::from_str(r#"{"login":{"action":"accept"},"other":null}"#)?;
///
/// let login: ElicitResult = responses.decode("login")?.unwrap();
/// assert_eq!(login.action, ElicitAction::Accept);
/// let error = responses.decode::<ElicitResult>("other").unwrap_err();
/// assert_eq!(error.to_string(), "the answer to `other` is not an object");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputResponses(JsonObject);

impl InputResponses {
    /// No answers.
    pub const fn new() -> Self {
        Self(JsonObject::new())
    }

    /// Reads the answer under `key` as a `T`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// There is an answer, but it is not a `T`.
    pub fn decode<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, InputResponseError> {
        let Some(json) = self.get(key) else {
            return Ok(None);
        };
        if !json.is_object() {
            return Err(InputResponseError::NotAnObject {
                key: key.to_owned(),
            });
        }
        let malformed = |source| InputResponseError::Malformed {
            key: key.to_owned(),
            source,
        };
        json.decode().map(Some).map_err(malformed)
    }

    /// The answer under `key` as it came.
    pub fn get(&self, key: &str) -> Option<&RawJson> {
        self.0.get(key)
    }

    /// Answers the question `key`.
    ///
    /// # Panics
    ///
    /// Never: every answer has a JSON form.
    pub fn insert(&mut self, key: impl Into<String>, response: impl Into<InputResponse>) {
        let json = RawJson::of(&response.into()).expect("wire structs have string keys only");
        self.0.insert(key, json);
    }

    /// The answers as they came, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter()
    }

    /// Whether there are no answers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.0.len()
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

/// An answer that does not fit its question.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputResponseError {
    /// It is an object, but not of the kind that was asked for.
    #[error("the answer to `{key}` is malformed")]
    Malformed {
        /// The question.
        key: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// It is null, or something else that is not an object.
    #[error("the answer to `{key}` is not an object")]
    NotAnObject {
        /// The question.
        key: String,
    },
}

impl InputResponseError {
    /// The question whose answer it is.
    pub fn key(&self) -> &str {
        match self {
            Self::Malformed { key, .. } | Self::NotAnObject { key } => key,
        }
    }
}
