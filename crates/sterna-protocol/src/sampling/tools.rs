use crate::content::ContentBlock;
use crate::json::{JsonObject, OtherName, RawJson, RawObject};

/// A tool the model wants to be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolUseContent {
    /// Ties the result to this use.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, as the model wrote them.
    pub input: RawObject,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ToolUseContent {
    /// Uses the tool `name` with `input`.
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

/// What a tool returned to the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The use this is the result of.
    pub tool_use_id: String,
    /// What the tool says, for the model.
    pub content: Vec<ContentBlock>,
    /// What the tool says, for programs; any JSON, an object before
    /// 2026-07-28.
    pub structured_content: Option<RawJson>,
    /// The tool failed, and `content` says how. Assumed false.
    pub is_error: Option<bool>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ToolResultContent {
    /// The use `tool_use_id` returned `content`.
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

/// How free the model is to use tools.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolChoice {
    /// As it likes, if nothing is said.
    pub mode: Option<ToolChoiceMode>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ToolChoice {
    /// This free.
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

/// How free a model is to use tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoiceMode {
    /// As it likes.
    Auto,
    /// Not at all.
    None,
    /// At least one.
    Required,
    /// A mode this revision does not define.
    Other(OtherName),
}

names!(ToolChoiceMode {
    Auto = "auto",
    None = "none",
    Required = "required",
});
