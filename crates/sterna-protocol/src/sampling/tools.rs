use crate::content::ContentBlock;
use crate::json::{JsonObject, OtherName, RawJson, RawObject};

wire! {
    /// Tool call that the model asks for.
    pub struct ToolUseContent {
        tag "type" = "tool_use";
        required {
            /// Id of the call, repeated by its result.
            id: String = "id",
            /// Name of the tool.
            name: String = "name",
            /// Arguments, as the model wrote them.
            input: RawObject = "input",
        }
        optional {
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Calls the tool `name` with `input`.
    new(id: impl Into<String>, name: impl Into<String>, input: impl Into<RawObject>);
}

wire! {
    /// Result of a tool call, for the model.
    pub struct ToolResultContent {
        tag "type" = "tool_result";
        required {
            /// Id of the tool call.
            tool_use_id: String = "toolUseId",
            /// Output for the model.
            content: Vec<ContentBlock> = "content",
        }
        optional {
            /// Structured output, for programs. Any JSON; before 2026-07-28 an
            /// object.
            structured_content: Option<RawJson> = "structuredContent",
            /// True if the tool failed and `content` describes the failure.
            /// False if missing.
            is_error: Option<bool> = "isError",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates the result of the call `tool_use_id`.
    new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>);
}

wire! {
    /// Rule for the use of tools by a model.
    #[derive(Default)]
    pub struct ToolChoice {
        optional {
            /// Mode; automatic if missing.
            mode: Option<ToolChoiceMode> = "mode",
        }
    }
}

impl ToolChoice {
    /// Creates a rule of this mode.
    pub fn new(mode: ToolChoiceMode) -> Self {
        Self {
            mode: Some(mode),
            extra: JsonObject::new(),
        }
    }
}

/// Mode of tool use by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoiceMode {
    /// The model decides.
    Auto,
    /// The model uses no tools.
    None,
    /// The model uses at least one tool.
    Required,
    /// Mode that this revision does not define.
    Other(OtherName),
}

names!(ToolChoiceMode {
    Auto = "auto",
    None = "none",
    Required = "required",
});
