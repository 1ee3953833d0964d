use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use thiserror::Error;

use super::{InputRequest, InputRequestError};
use crate::json::JsonObject;

/// Questions of a server, each under a key of its choice (`inputRequests`).
///
/// The answers come back under the same keys.
#[derive(Clone, Debug, Default, PartialEq)]
// Sorted by key. A request is large and there are few of them, so a list takes
// far less memory than the nodes of a tree.
pub struct InputRequests(Vec<(String, InputRequest)>);

impl InputRequests {
    /// Creates an empty set of questions.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Decodes the questions that a server sent.
    ///
    /// # Errors
    ///
    /// The key of the first question that is malformed, and the difference.
    pub fn decode(requests: &JsonObject) -> Result<Self, InputRequestsError> {
        let decode = |(key, json): (&str, _)| match InputRequest::decode(json) {
            Ok(request) => Ok((key.to_owned(), request)),
            Err(source) => Err(InputRequestsError {
                key: key.to_owned(),
                source,
            }),
        };
        requests.iter().map(decode).collect()
    }

    /// Returns true if there is no question.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of questions.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The question under `key`.
    pub fn get(&self, key: &str) -> Option<&InputRequest> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    /// Returns the index of `key`, or the index to insert it at.
    fn find(&self, key: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_str().cmp(key))
    }

    /// Sets the question under `key` and returns the previous one.
    pub fn insert(
        &mut self,
        key: impl Into<String>,
        request: InputRequest,
    ) -> Option<InputRequest> {
        let key = key.into();
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, request)),
            Err(at) => {
                if self.0.is_empty() {
                    self.0.reserve_exact(1);
                }
                self.0.insert(at, (key, request));
                None
            }
        }
    }

    /// The questions in the order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &InputRequest)> {
        self.0.iter().map(|(key, request)| (key.as_str(), request))
    }
}

impl<K: Into<String>> FromIterator<(K, InputRequest)> for InputRequests {
    fn from_iter<I: IntoIterator<Item = (K, InputRequest)>>(requests: I) -> Self {
        let mut all = Self::new();
        for (key, request) in requests {
            all.insert(key, request);
        }
        all
    }
}

impl IntoIterator for InputRequests {
    type Item = (String, InputRequest);
    type IntoIter = std::vec::IntoIter<(String, InputRequest)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Serialize for InputRequests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for InputRequests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let requests = JsonObject::deserialize(deserializer)?;
        Self::decode(&requests).map_err(|error| error.flat())
    }
}

/// Malformed question of a server.
#[derive(Debug, Error)]
#[error("input request `{key}` is malformed")]
#[non_exhaustive]
pub struct InputRequestsError {
    /// Key of the question.
    pub key: String,
    /// Difference from the expected type.
    pub source: InputRequestError,
}

impl InputRequestsError {
    /// Puts the cause into the text, for errors that keep no source.
    pub(super) fn flat<E: de::Error>(self) -> E {
        let Self { key, source } = self;
        match source {
            InputRequestError::Malformed(source) => {
                E::custom(format_args!("input request `{key}`: {source}"))
            }
            other => E::custom(format_args!("input request `{key}`: {other}")),
        }
    }
}
