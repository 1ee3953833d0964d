use std::collections::BTreeSet;

use thiserror::Error;

use super::{CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock};
use crate::content::Role;

impl CreateMessageRequestParams {
    /// Checks the rules for conversations that the types do not express: roles
    /// are known, tool results stand alone in their message, and the next
    /// message answers every tool use.
    ///
    /// # Errors
    ///
    /// The first message that breaks a rule, and the rule. A server must not
    /// send such a conversation; a client refuses it as invalid parameters.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::sampling::CreateMessageRequestParams;
    ///
    /// let params: CreateMessageRequestParams = serde_json::from_str(
    ///     r#"{"maxTokens": 9, "messages": [
    ///         {"role": "assistant", "content": {"type": "tool_use", "id": "u", "name": "tide", "input": {}}}
    ///     ]}"#,
    /// )?;
    /// let error = params.check().unwrap_err();
    /// assert_eq!(error.to_string(), "message 0: tool use `u` is not answered by the next message");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn check(&self) -> Result<(), ConversationError> {
        for (index, message) in self.messages.iter().enumerate() {
            let next = self.messages.get(index + 1);
            let broken = |rule| ConversationError { index, rule };
            check_message(message, next).map_err(broken)?;
        }
        Ok(())
    }
}

fn check_message(
    message: &SamplingMessage,
    next: Option<&SamplingMessage>,
) -> Result<(), ConversationRule> {
    // SAMP-B3: there are two roles.
    if let Role::Other(role) = &message.role {
        return Err(ConversationRule::Role(role.as_str().to_owned()));
    }
    // SAMP-B1: tool results are the only content of their message.
    let blocks = message.content.blocks();
    let results = blocks.iter().filter(|block| result_of(block).is_some());
    if (1..blocks.len()).contains(&results.count()) {
        return Err(ConversationRule::ResultsAlone);
    }
    // SAMP-B2: the next message answers every tool use.
    let next = next.map_or(&[][..], |next| next.content.blocks());
    let answered: BTreeSet<&str> = next.iter().filter_map(result_of).collect();
    let mut uses = blocks.iter().filter_map(use_of);
    // Other content in the next message would separate a tool use from its result.
    let only_results = next.iter().all(|block| result_of(block).is_some());
    match uses.find(|id| !only_results || !answered.contains(id)) {
        Some(id) => Err(ConversationRule::Unanswered(id.to_owned())),
        None => Ok(()),
    }
}

fn use_of(block: &SamplingMessageContentBlock) -> Option<&str> {
    match block {
        SamplingMessageContentBlock::ToolUse(content) => Some(&content.id),
        _ => None,
    }
}

fn result_of(block: &SamplingMessageContentBlock) -> Option<&str> {
    match block {
        SamplingMessageContentBlock::ToolResult(content) => Some(&content.tool_use_id),
        _ => None,
    }
}

/// Conversation that models refuse.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("message {index}: {rule}")]
#[non_exhaustive]
pub struct ConversationError {
    /// Index of the message.
    pub index: usize,
    /// Rule that it breaks.
    pub rule: ConversationRule,
}

/// Rule for the messages of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConversationRule {
    /// A message with tool results holds no other content.
    #[error("tool results must be the only content of their message")]
    ResultsAlone,
    /// The role is `user` or `assistant`.
    #[error("unknown role `{0}`")]
    Role(String),
    /// The next message answers every tool use.
    #[error("tool use `{0}` is not answered by the next message")]
    Unanswered(String),
}
