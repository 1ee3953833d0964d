//! Sampling: calling the client's model (deprecated in 2026-07-28).

mod check;
mod message;
mod request;
mod tools;

pub use check::{ConversationError, ConversationRule};
pub use message::{
    CreateMessageResult, SamplingContent, SamplingMessage, SamplingMessageContentBlock, StopReason,
};
pub use request::{CreateMessageRequestParams, IncludeContext, ModelHint, ModelPreferences};
pub use tools::{ToolChoice, ToolChoiceMode, ToolResultContent, ToolUseContent};
