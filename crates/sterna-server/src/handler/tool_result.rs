use std::fmt;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;
use sterna_protocol::content::ContentBlock;
use sterna_protocol::json::RawJson;
use sterna_protocol::tool::CallToolResult;

use super::ToolError;

/// Return type of a tool.
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

    /// The JSON Schema of the structured content that every success has, if it
    /// has any: the output schema of the tool.
    fn output_schema() -> Option<Value>
    where
        Self: Sized,
    {
        None
    }
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

    fn output_schema() -> Option<Value> {
        T::output_schema()
    }
}

/// Structured content, for programs.
///
/// The schema of `T` becomes the output schema of the tool, unless
/// [`Tool::output_schema`](crate::Tool::output_schema) gives another. The same
/// JSON goes out as text too, for clients that know no structured content
/// (TOOL-S11).
///
/// # Examples
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Serialize;
/// use sterna_server::{Cx, IntoToolResult, Json, Server};
///
/// #[derive(Serialize, JsonSchema)]
/// struct Weather {
///     celsius: f64,
/// }
///
/// async fn weather(_: Cx<'_>, (): ()) -> Json<Weather> {
///     Json(Weather { celsius: 21.5 })
/// }
///
/// let server = Server::new("sky", "1.0.0").tool("weather", "The weather here", weather);
/// # let _ = server;
/// let schema = Json::<Weather>::output_schema().unwrap();
/// assert_eq!(schema["properties"]["celsius"]["type"], "number");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper and nothing else")]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        let json = RawJson::of(&self.0)?;
        Ok(CallToolResult::text(json.as_str()).with_structured_content(json))
    }

    fn output_schema() -> Option<Value> {
        let schema = schema_of_output::<T>();
        // That of any value is named and promises nothing.
        let promises = |word: &String| !["title", "description"].contains(&word.as_str());
        let says = schema.as_object()?.keys().any(promises);
        says.then_some(schema)
    }
}

/// The JSON Schema of what a `T` is written as, which may be another than that
/// of what it is read from.
pub(crate) fn schema_of_output<T: JsonSchema>() -> Value {
    // 2020-12 is what a schema is that does not say so (BASE-B12).
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.meta_schema = None);
    settings.into_generator().into_root_schema_for::<T>().into()
}
