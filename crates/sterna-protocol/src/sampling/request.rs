use super::{SamplingMessage, ToolChoice};
use crate::json::{JsonObject, Number, OtherName};
use crate::tool::Tool;

/// The parameters of `sampling/createMessage`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// How much the model may write.
    pub max_tokens: u64,
    /// What to tell the model beforehand; the client may change it.
    pub system_prompt: Option<String>,
    /// What to look for in a model; the client chooses.
    pub model_preferences: Option<ModelPreferences>,
    /// Tools the model may use in this conversation.
    pub tools: Option<Vec<Tool>>,
    /// How free it is to use them.
    pub tool_choice: Option<ToolChoice>,
    /// How daring it should be.
    pub temperature: Option<Number>,
    /// Texts after which it must stop.
    pub stop_sequences: Option<Vec<String>>,
    /// Context of MCP servers to add (deprecated).
    pub include_context: Option<IncludeContext>,
    /// Settings for the model's vendor.
    pub metadata: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CreateMessageRequestParams {
    /// Continues `messages` with at most `max_tokens`.
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

/// Which servers' context goes into the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IncludeContext {
    /// That of every server.
    AllServers,
    /// None.
    None,
    /// That of the server that asks.
    ThisServer,
    /// A choice this revision does not define.
    Other(OtherName),
}

names!(IncludeContext {
    AllServers = "allServers",
    None = "none",
    ThisServer = "thisServer",
});

/// What a server would like of a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Models that would do, best first.
    pub hints: Option<Vec<ModelHint>>,
    /// How much cost matters, from 0 to 1.
    pub cost_priority: Option<Number>,
    /// How much speed matters, from 0 to 1.
    pub speed_priority: Option<Number>,
    /// How much cleverness matters, from 0 to 1.
    pub intelligence_priority: Option<Number>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ModelPreferences {
    optional: hints = "hints", cost_priority = "costPriority", speed_priority = "speedPriority",
        intelligence_priority = "intelligencePriority";
    rest: extra
});

/// A model that would do.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelHint {
    /// Part of a model's name.
    pub name: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ModelHint {
    /// A model whose name holds `name`.
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
