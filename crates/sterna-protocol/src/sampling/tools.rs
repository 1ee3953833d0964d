use crate::content::ContentBlock;
use crate::json::{JsonObject, OtherName, RawJson, RawObject};

/// Tool call that the model asks for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolUseContent {
    /// Id of the call, repeated by its result.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments, as the model wrote them.
    pub input: RawObject,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ToolUseContent {
    /// Calls the tool `name` with `input`.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        input: impl Into<RawObject>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input: input.into(),
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ToolUseContent {
    tag: "type" = "tool_use";
    required: id = "id", name = "name", input = "input";
    optional: meta = "_meta";
    rest: extra
});

/// Result of a tool call, for the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResultContent {
    /// Id of the tool call.
    pub tool_use_id: String,
    /// Output for the model.
    pub content: Vec<ContentBlock>,
    /// Structured output, for programs. Any JSON; before 2026-07-28 an object.
    pub structured_content: Option<RawJson>,
    /// True if the tool failed and `content` describes the failure. False if
    /// missing.
    pub is_error: Option<bool>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ToolResultContent {
    /// Creates the result of the call `tool_use_id`.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            structured_content: None,
            is_error: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ToolResultContent {
    tag: "type" = "tool_result";
    required: tool_use_id = "toolUseId", content = "content";
    optional: structured_content = "structuredContent", is_error = "isError", meta = "_meta";
    rest: extra
});

/// Rule for the use of tools by a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolChoice {
    /// Mode; automatic if missing.
    pub mode: Option<ToolChoiceMode>,
    /// Members this revision does not define.
    pub extra: JsonObject,
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

members!(ToolChoice {
    optional: mode = "mode";
    rest: extra
});

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
