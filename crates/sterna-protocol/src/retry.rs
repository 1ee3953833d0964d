//! Members of a retry: the client's answers and the server's state.
//!
//! Public as part of [`input`](crate::input); here, below the requests that
//! carry them.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

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

    /// Stores `response` as the answer to the question `key`.
    pub(crate) fn insert_raw(&mut self, key: String, response: RawJson) {
        self.0.insert(key, response);
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

/// What a server wants to be reminded of, in words only it understands.
///
/// A client hands it back byte for byte and may not look inside. `Debug` shows
/// its length only, so it stays out of logs.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestState(String);

impl RequestState {
    /// Takes `state` as it is.
    pub fn new(state: impl Into<String>) -> Self {
        Self(state.into())
    }

    /// The text, for the server that wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many bytes it takes on the wire, before JSON escapes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the text is empty, which is a state like any other.
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
