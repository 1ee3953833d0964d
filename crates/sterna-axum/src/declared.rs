//! A route as its author declared it.

use std::sync::Arc;

use serde_json::Value;

use crate::handler::Start;
use crate::resume::{FindCaller, Resume};

/// Route that was built.
pub(crate) struct RouteCore<S> {
    pub(crate) resume: Resume<S>,
    pub(crate) start: Arc<Start<S>>,
    /// `None` if every caller is anonymous.
    pub(crate) caller: Option<Arc<FindCaller>>,
    pub(crate) questions: Vec<DeclaredQuestion>,
    pub(crate) requires_key: bool,
}

impl<S> RouteCore<S> {
    /// Returns the declaration of the question that is asked under `key`.
    pub(crate) fn question(&self, key: &str) -> Option<&DeclaredQuestion> {
        let mut questions = self.questions.iter();
        questions.find(|question| question.is_asked_by(key))
    }
}

/// Question that a route may ask.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredQuestion {
    pub(crate) key: String,
    pub(crate) schema: Value,
    /// `true` if answers to it are counted.
    pub(crate) is_secret: bool,
}

impl DeclaredQuestion {
    /// Returns `true` if `key` is one of this question, in any scope and however
    /// often it was asked (`otp`, `otp#2`, `otp~2`).
    pub(crate) fn is_asked_by(&self, key: &str) -> bool {
        let name = key.rsplit('/').next().unwrap_or(key);
        name.split(['#', '~']).next() == Some(&self.key)
    }

    /// Returns `true` if the key has no character with a meaning in a journal.
    pub(crate) fn has_plain_key(&self) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        !self.key.is_empty() && self.key.bytes().all(is_plain)
    }
}
