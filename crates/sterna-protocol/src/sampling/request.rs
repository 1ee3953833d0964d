use super::{SamplingMessage, ToolChoice};
use crate::json::{JsonObject, Number, OtherName};
use crate::tool::Tool;

wire! {
    /// Parameters of `sampling/createMessage`.
    pub struct CreateMessageRequestParams {
        required {
            /// The conversation so far.
            messages: Vec<SamplingMessage> = "messages",
            /// Largest number of tokens to generate.
            max_tokens: u64 = "maxTokens",
        }
        optional {
            /// System prompt. The client may change it.
            system_prompt: Option<String> = "systemPrompt",
            /// Preferences for the model, which the client chooses.
            model_preferences: Option<ModelPreferences> = "modelPreferences",
            /// Tools that the model may use.
            tools: Option<Vec<Tool>> = "tools",
            /// Rule for the use of the tools.
            tool_choice: Option<ToolChoice> = "toolChoice",
            /// Sampling temperature.
            temperature: Option<Number> = "temperature",
            /// Texts that end the message.
            stop_sequences: Option<Vec<String>> = "stopSequences",
            /// Context of MCP servers to include (deprecated).
            include_context: Option<IncludeContext> = "includeContext",
            /// Settings for the model's vendor.
            metadata: Option<JsonObject> = "metadata",
        }
    }

    /// Continues `messages` with at most `max_tokens` tokens.
    new(messages: Vec<SamplingMessage>, max_tokens: u64);
}

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

wire! {
    /// Preferences of a server for a model.
    #[derive(Default)]
    pub struct ModelPreferences {
        optional {
            /// Suitable models, best first.
            hints: Option<Vec<ModelHint>> = "hints",
            /// Importance of low cost, from 0 to 1.
            cost_priority: Option<Number> = "costPriority",
            /// Importance of speed, from 0 to 1.
            speed_priority: Option<Number> = "speedPriority",
            /// Importance of intelligence, from 0 to 1.
            intelligence_priority: Option<Number> = "intelligencePriority",
        }
    }
}

wire! {
    /// Hint at a suitable model.
    #[derive(Default)]
    pub struct ModelHint {
        optional {
            /// Part of the model's name.
            name: Option<String> = "name",
        }
    }
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
