use super::{SamplingMessage, ToolChoice};
use crate::json::{JsonObject, Number, OtherName};
use crate::tool::Tool;

/// Parameters of `sampling/createMessage`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// Largest number of tokens to generate.
    pub max_tokens: u64,
    /// System prompt. The client may change it.
    pub system_prompt: Option<String>,
    /// Preferences for the model, which the client chooses.
    pub model_preferences: Option<ModelPreferences>,
    /// Tools that the model may use.
    pub tools: Option<Vec<Tool>>,
    /// Rule for the use of the tools.
    pub tool_choice: Option<ToolChoice>,
    /// Sampling temperature.
    pub temperature: Option<Number>,
    /// Texts that end the message.
    pub stop_sequences: Option<Vec<String>>,
    /// Context of MCP servers to include (deprecated).
    pub include_context: Option<IncludeContext>,
    /// Settings for the model's vendor.
    pub metadata: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CreateMessageRequestParams {
    /// Continues `messages` with at most `max_tokens` tokens.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            max_tokens,
            system_prompt: None,
            model_preferences: None,
            tools: None,
            tool_choice: None,
            temperature: None,
            stop_sequences: None,
            include_context: None,
            metadata: None,
            extra: JsonObject::new(),
        }
    }
}

members!(CreateMessageRequestParams {
    required: messages = "messages", max_tokens = "maxTokens";
    optional: system_prompt = "systemPrompt", model_preferences = "modelPreferences",
        tools = "tools", tool_choice = "toolChoice", temperature = "temperature",
        stop_sequences = "stopSequences", include_context = "includeContext",
        metadata = "metadata";
    rest: extra
});

/// Servers whose context is included in the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IncludeContext {
    /// All servers.
    AllServers,
    /// No server.
    None,
    /// The server that asks.
    ThisServer,
    /// Value that this revision does not define.
    Other(OtherName),
}

names!(IncludeContext {
    AllServers = "allServers",
    None = "none",
    ThisServer = "thisServer",
});

/// Preferences of a server for a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Suitable models, best first.
    pub hints: Option<Vec<ModelHint>>,
    /// Importance of low cost, from 0 to 1.
    pub cost_priority: Option<Number>,
    /// Importance of speed, from 0 to 1.
    pub speed_priority: Option<Number>,
    /// Importance of intelligence, from 0 to 1.
    pub intelligence_priority: Option<Number>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ModelPreferences {
    optional: hints = "hints", cost_priority = "costPriority", speed_priority = "speedPriority",
        intelligence_priority = "intelligencePriority";
    rest: extra
});

/// Hint at a suitable model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelHint {
    /// Part of the model's name.
    pub name: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ModelHint {
    /// Suggests models whose name contains `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            extra: JsonObject::new(),
        }
    }
}

members!(ModelHint {
    optional: name = "name";
    rest: extra
});
