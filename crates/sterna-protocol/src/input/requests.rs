use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use thiserror::Error;

use super::{InputRequest, InputRequestError};
use crate::json::JsonObject;

/// What a server asks, each under a key of its choice.
///
/// The answers come back under the same keys.
#[derive(Clone, Debug, Default, PartialEq)]
// Sorted by key. A request is large and few are asked at a time, so a list takes
// far less memory than the nodes of a tree.
pub struct InputRequests(Vec<(String, InputRequest)>);

impl InputRequests {
    /// Nothing.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Reads the requests out of what a server sent.
    ///
    /// # Errors
    ///
    /// Names the first request that is none.
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

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How much is asked.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What is asked under `key`.
    pub fn get(&self, key: &str) -> Option<&InputRequest> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    /// Where `key` is, or where it belongs.
    fn find(&self, key: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_str().cmp(key))
    }

    /// Asks `request` under `key` and returns what was asked there before.
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

    /// What is asked, in the order of the keys.
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

/// One of the things a server asks cannot be understood.
#[derive(Debug, Error)]
#[error("input request `{key}`")]
#[non_exhaustive]
pub struct InputRequestsError {
    /// The key it stands under.
    pub key: String,
    /// What is wrong with it.
    pub source: InputRequestError,
}

impl InputRequestsError {
    /// The error for those who see only text and no sources.
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
