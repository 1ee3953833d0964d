//! A paused call of any kind.

use serde_json::Value;
use sterna_client::{Error, PausedCall};
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

/// A paused tool call, prompt or resource.
#[derive(Clone, Debug)]
pub(crate) enum Paused {
    Prompt(PausedCall<GetPromptResult>),
    Resource(PausedCall<ReadResourceResult>),
    Tool(PausedCall<CallToolResult>),
}

impl Paused {
    /// Everything that is asked in this round.
    pub(crate) fn questions(&self) -> Vec<(String, InputRequest)> {
        let questions = match self {
            Self::Prompt(paused) => paused.questions(),
            Self::Resource(paused) => paused.questions(),
            Self::Tool(paused) => paused.questions(),
        };
        let questions = questions.iter();
        questions
            .map(|(key, request)| (key.to_owned(), request.clone()))
            .collect()
    }

    pub(crate) fn answer(&mut self, key: &str, response: InputResponse) -> Result<(), Error> {
        match self {
            Self::Prompt(paused) => paused.answer(key, response),
            Self::Resource(paused) => paused.answer(key, response),
            Self::Tool(paused) => paused.answer(key, response),
        }
    }

    /// The answers so far, by key.
    pub(crate) fn given(&self) -> Vec<(String, Value)> {
        let stored = self.to_json();
        let answers = stored.as_ref().and_then(|stored| stored.get("answers"));
        let answers = answers.and_then(Value::as_object).into_iter().flatten();
        answers
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// The request state. It is kept from the pages: they show its size.
    pub(crate) fn state(&self) -> Option<String> {
        let stored = self.to_json()?;
        stored.get("state")?.as_str().map(str::to_owned)
    }

    /// The same paused call with another state and another target, for attempts
    /// that the server is expected to refuse.
    pub(crate) fn altered(&self, state: Option<&str>, name: Option<&str>) -> Option<Self> {
        let mut stored = self.to_json()?;
        if let Some(state) = state {
            stored["state"] = state.into();
        }
        if let Some(name) = name {
            let member = match self {
                Self::Resource(_) => "uri",
                Self::Prompt(_) | Self::Tool(_) => "name",
            };
            stored["request"][member] = name.into();
        }
        match self {
            Self::Prompt(_) => serde_json::from_value(stored).ok().map(Self::Prompt),
            Self::Resource(_) => serde_json::from_value(stored).ok().map(Self::Resource),
            Self::Tool(_) => serde_json::from_value(stored).ok().map(Self::Tool),
        }
    }

    fn to_json(&self) -> Option<Value> {
        match self {
            Self::Prompt(paused) => serde_json::to_value(paused).ok(),
            Self::Resource(paused) => serde_json::to_value(paused).ok(),
            Self::Tool(paused) => serde_json::to_value(paused).ok(),
        }
    }
}
