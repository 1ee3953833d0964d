//! Answers of the client.

use serde::Serialize;
use serde_json::{Value, json};

use super::Flow;
use crate::answer::Answer;

/// Answers of the client. A question that is asked again takes the next answer to
/// it; a scope is part of the name, as in `row-1/name`.
impl Flow {
    /// Fills in the form of the question `key`: with a struct, or with a single
    /// value for a form of one field.
    pub fn answer(mut self, key: &str, answer: impl Serialize) -> Self {
        let content = self.write(answer);
        self.then(key, Answer::Accept(content))
    }

    /// Accepts the question `key` without filling in anything: a confirmation,
    /// or a page to visit.
    pub fn agree(self, key: &str) -> Self {
        self.then(key, Answer::Action("accept"))
    }

    /// Declines the question `key`.
    pub fn decline(self, key: &str) -> Self {
        self.then(key, Answer::Action("decline"))
    }

    /// Closes the question `key` without answering.
    pub fn cancel(self, key: &str) -> Self {
        self.then(key, Answer::Action("cancel"))
    }

    /// Has the model write `text` where it is [sampled](sterna_server::Cx::sample)
    /// as `key`.
    pub fn sample(self, key: &str, text: &str) -> Self {
        let written = json!({
            "role": "assistant",
            "model": "scripted",
            "content": {"type": "text", "text": text},
        });
        self.then(key, Answer::Raw(written))
    }

    /// Works on these places, which are `file://` URIs.
    pub fn roots(self, key: &str, uris: &[&str]) -> Self {
        let roots: Vec<Value> = uris.iter().map(|uri| json!({"uri": uri})).collect();
        self.then(key, Answer::Raw(json!({"roots": roots})))
    }

    /// Responds to the question `key` with this value unchanged, such as an answer
    /// that does not fit.
    pub fn respond(self, key: &str, response: Value) -> Self {
        self.then(key, Answer::Raw(response))
    }

    fn then(mut self, key: &str, answer: Answer) -> Self {
        self.script.put(key, answer);
        self
    }
}
