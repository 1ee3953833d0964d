//! Members of a retry: the client's answers and the server's state.
//!
//! Re-exported by [`input`](crate::input), and defined here, below the requests
//! that carry them.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::json::{JsonObject, RawJson};

/// Answers of a client, each under the key of its question (`inputResponses`).
///
/// The type of an answer follows from its question, so answers stay raw until
/// they are decoded. An answer that the server did not ask for is never
/// decoded.
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
    /// Creates an empty set of answers.
    pub const fn new() -> Self {
        Self(JsonObject::new())
    }

    /// Decodes the answer under `key` as a `T`. `None` if there is none.
    ///
    /// # Errors
    ///
    /// The answer is not a `T`.
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

    /// The answer under `key`, as raw JSON.
    pub fn get(&self, key: &str) -> Option<&RawJson> {
        self.0.get(key)
    }

    /// Stores `response` as the answer under `key`.
    pub(crate) fn insert_raw(&mut self, key: String, response: RawJson) {
        self.0.insert(key, response);
    }

    /// The answers as raw JSON, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter()
    }

    /// Returns true if there is no answer.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of answers.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl From<JsonObject> for InputResponses {
    fn from(answers: JsonObject) -> Self {
        Self(answers)
    }
}

/// Answer that does not fit its question.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputResponseError {
    /// An object, but not of the type that the question asks for.
    #[error("the answer to `{key}` is malformed")]
    Malformed {
        /// Key of the question.
        key: String,
        /// Difference from the expected type.
        source: serde_json::Error,
    },
    /// `null`, or another value that is not an object.
    #[error("the answer to `{key}` is not an object")]
    NotAnObject {
        /// Key of the question.
        key: String,
    },
}

impl InputResponseError {
    /// The key of the question.
    pub fn key(&self) -> &str {
        match self {
            Self::Malformed { key, .. } | Self::NotAnObject { key } => key,
        }
    }
}

/// Opaque state of a server (`requestState`), for the retry of a request.
///
/// A client returns it byte for byte and does not interpret it. `Debug` shows
/// the length only, so that the state stays out of logs.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestState(String);

impl RequestState {
    /// Takes over `state` unchanged.
    pub fn new(state: impl Into<String>) -> Self {
        Self(state.into())
    }

    /// The text, for the server that wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The length in bytes, before JSON escapes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the text is empty, which is a valid state.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for RequestState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestState({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_length_only() {
        assert_eq!(
            format!("{:?}", RequestState::new("secret")),
            "RequestState(6 bytes)"
        );
    }
}
