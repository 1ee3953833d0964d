use std::fmt;

use serde::Serialize;
use sterna_protocol::content::ContentBlock;
use sterna_protocol::json::RawJson;
use sterna_protocol::tool::CallToolResult;

use super::ToolError;

/// What a tool may return.
///
/// Text, content blocks, [`Json`] for programs, nothing, or a whole
/// [`CallToolResult`]; each also inside a `Result` whose error can be shown.
pub trait IntoToolResult {
    /// Makes it the result of `tools/call`.
    ///
    /// # Errors
    ///
    /// The tool failed; the model is told.
    fn into_tool_result(self) -> Result<CallToolResult, ToolError>;
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(Vec::new()))
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::text(self))
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::text(self))
    }
}

impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(self))
    }
}

impl<T: IntoToolResult, E: fmt::Display> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(error) => Err(ToolError::new(error.to_string())),
        }
    }
}

/// Structured content, for programs.
///
/// The same JSON goes out as text too, for clients that know no structured
/// content (TOOL-S11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper and nothing else")]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        let json = RawJson::of(&self.0)?;
        Ok(CallToolResult::text(json.as_str()).with_structured_content(json))
    }
}
