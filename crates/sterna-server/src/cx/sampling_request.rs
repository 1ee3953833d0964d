//! Requests to the client's model.

use sterna_protocol::content::Role;
use sterna_protocol::sampling::{
    CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock,
};

/// Sampling request for the client's model: the text of one user message, or
/// whole [`CreateMessageRequestParams`].
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingRequest(pub(super) CreateMessageRequestParams);

impl SamplingRequest {
    /// One user message with `text`; the model may write up to `max_tokens`.
    pub fn new(text: impl Into<String>, max_tokens: u64) -> Self {
        let text = SamplingMessageContentBlock::text(text);
        let messages = vec![SamplingMessage::new(Role::User, text)];
        Self(CreateMessageRequestParams::new(messages, max_tokens))
    }
}

impl From<CreateMessageRequestParams> for SamplingRequest {
    fn from(params: CreateMessageRequestParams) -> Self {
        Self(params)
    }
}

impl From<&str> for SamplingRequest {
    fn from(text: &str) -> Self {
        Self::new(text, MAX_TOKENS)
    }
}

impl From<String> for SamplingRequest {
    fn from(text: String) -> Self {
        Self::new(text, MAX_TOKENS)
    }
}

/// A page of text: enough for a summary, little enough not to surprise the
/// user, who pays for it.
const MAX_TOKENS: u64 = 1024;
