//! Answers of a scripted client.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value, json};

/// One answer, before it is known what exactly was asked.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Fills in the form; a single value fills in its only field.
    Accept(Value),
    /// Accepts, declines or cancels without filling in anything.
    Action(&'static str),
    /// Sent as it is.
    Raw(Value),
}

impl Answer {
    /// As it goes to the server, in answer to `question`.
    pub(crate) fn to_wire(&self, key: &str, question: &Value) -> Value {
        match self {
            Self::Accept(content @ Value::Object(_)) => {
                json!({"action": "accept", "content": content})
            }
            Self::Accept(value) => {
                let fields = question["params"]["requestedSchema"]["properties"].as_object();
                let field = fields.and_then(|fields| fields.keys().next());
                let field = field.map_or_else(|| key.to_owned(), Clone::clone);
                let content = Map::from_iter([(field, value.clone())]);
                json!({"action": "accept", "content": content})
            }
            Self::Action(action) => json!({"action": action}),
            Self::Raw(value) => value.clone(),
        }
    }
}

/// All answers of a client, by the name of the question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script(BTreeMap<String, VecDeque<Answer>>);

impl Script {
    pub(crate) fn put(&mut self, key: &str, answer: Answer) {
        self.0.entry(key.to_owned()).or_default().push_back(answer);
    }

    /// The next answer to the question `key`, which may be asked again as
    /// `key~2`.
    pub(crate) fn take(&mut self, key: &str) -> Option<Answer> {
        let answers = match self.0.get_mut(key) {
            Some(answers) if !answers.is_empty() => Some(answers),
            _ => self.0.get_mut(plain(key)),
        };
        answers?.pop_front()
    }

    /// The questions of the script that were not asked.
    pub(crate) fn left(&self) -> impl Iterator<Item = &str> {
        let left = self.0.iter().filter(|(_, answers)| !answers.is_empty());
        left.map(|(key, _)| key.as_str())
    }
}

/// The name of a question, without the mark of one that is asked again.
pub(crate) fn plain(key: &str) -> &str {
    match key.rsplit_once('~') {
        Some((plain, again)) if again.parse::<u32>().is_ok() => plain,
        _ => key,
    }
}
