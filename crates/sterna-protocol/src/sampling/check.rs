use std::collections::BTreeSet;

use thiserror::Error;

use super::{CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock};
use crate::content::Role;

impl CreateMessageRequestParams {
    /// Checks what models demand of a conversation and no type can say: who
    /// speaks is known, results of tools stand alone, and every use of a tool
    /// is answered by the very next message.
    ///
    /// # Errors
    ///
    /// Names the first message that breaks a rule, and the rule. A server must
    /// not send such a conversation; a client refuses it as invalid
    /// parameters.
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
        for (place, message) in self.messages.iter().enumerate() {
            let next = self.messages.get(place + 1);
            let broken = |rule| ConversationError { place, rule };
            check_message(message, next).map_err(broken)?;
        }
        Ok(())
    }
}

fn check_message(
    message: &SamplingMessage,
    next: Option<&SamplingMessage>,
) -> Result<(), ConversationRule> {
    // SAMP-B3: the roles of a message are these two.
    if let Role::Other(role) = &message.role {
        return Err(ConversationRule::Role(role.as_str().to_owned()));
    }
    // SAMP-B1: results of tools stand alone.
    let blocks = message.content.blocks();
    let results = blocks.iter().filter(|block| result_of(block).is_some());
    if (1..blocks.len()).contains(&results.count()) {
        return Err(ConversationRule::ResultsAlone);
    }
    // SAMP-B2: the very next message answers every use of a tool.
    let next = next.map_or(&[][..], |next| next.content.blocks());
    let answered: BTreeSet<&str> = next.iter().filter_map(result_of).collect();
    let mut uses = blocks.iter().filter_map(use_of);
    // Whatever else is in the next message would come between use and result.
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

/// A conversation that a model would not take.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("message {place}: {rule}")]
#[non_exhaustive]
pub struct ConversationError {
    /// The message, counted from zero.
    pub place: usize,
    /// The rule it breaks.
    pub rule: ConversationRule,
}

/// A rule about the messages of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConversationRule {
    /// A message with results of tools holds nothing else.
    #[error("results of tools do not stand alone")]
    ResultsAlone,
    /// Who speaks is the user or the assistant.
    #[error("unknown role `{0}`")]
    Role(String),
    /// Every use of a tool is answered by the next message.
    #[error("tool use `{0}` is not answered by the next message")]
    Unanswered(String),
}
