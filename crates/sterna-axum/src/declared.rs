//! The questions that a route declares.

use serde_json::Value;

use crate::cx::Schema;

/// Question that a route may ask.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredQuestion {
    pub(crate) key: String,
    /// Schema of an answer as a client sees it.
    pub(crate) shown: Value,
    schema: Schema,
    /// `true` if answers to it are counted.
    pub(crate) is_secret: bool,
}

/// Returns the name of the question that is asked under `key`, without its scope
/// and without the number of times that it was asked.
pub(crate) fn plain(key: &str) -> &str {
    let name = key.rsplit('/').next().unwrap_or(key);
    name.split(['#', '~']).next().unwrap_or(name)
}

impl DeclaredQuestion {
    pub(crate) fn new(key: &str, schema: Schema, is_secret: bool) -> Self {
        Self {
            key: key.to_owned(),
            shown: schema.to_value(),
            schema,
            is_secret,
        }
    }

    /// Returns `true` if `key` is one of this question, in any scope and however
    /// often it was asked (`otp`, `otp#2`, `otp~2`).
    pub(crate) fn is_asked_by(&self, key: &str) -> bool {
        plain(key) == self.key
    }

    /// Returns `true` if the key has no character with a meaning in a journal.
    pub(crate) fn has_plain_key(&self) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        !self.key.is_empty() && self.key.bytes().all(is_plain)
    }

    /// Checks an answer as the handler does before it reads it.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the answer.
    pub(crate) fn check(&self, answer: &Value) -> Result<(), String> {
        self.schema.check(answer)
    }
}
