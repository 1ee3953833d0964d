use sterna_protocol::content::Role;
use sterna_protocol::sampling::{
    CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock,
};

/// What a model is asked to go on from: a text said by the user, or whole
/// [`CreateMessageRequestParams`].
#[derive(Clone, Debug, PartialEq)]
pub struct Script(pub(super) CreateMessageRequestParams);

impl Script {
    /// The user says `text`; the model may write `max_tokens`.
    pub fn new(text: impl Into<String>, max_tokens: u64) -> Self {
        let text = SamplingMessageContentBlock::text(text);
        let messages = vec![SamplingMessage::new(Role::User, text)];
        Self(CreateMessageRequestParams::new(messages, max_tokens))
    }
}

impl From<CreateMessageRequestParams> for Script {
    fn from(params: CreateMessageRequestParams) -> Self {
        Self(params)
    }
}

impl From<&str> for Script {
    fn from(text: &str) -> Self {
        Self::new(text, MAX_TOKENS)
    }
}

impl From<String> for Script {
    fn from(text: String) -> Self {
        Self::new(text, MAX_TOKENS)
    }
}

/// A page of text: enough for a summary, little enough not to surprise whoever
/// pays for it.
const MAX_TOKENS: u64 = 1024;
