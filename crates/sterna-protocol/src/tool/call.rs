use crate::content::ContentBlock;
use crate::json::{JsonObject, RawJson, RawObject};
use crate::meta::{RequestMeta, ResultMeta};
use crate::retry::{InputResponses, RequestState};

/// Parameters of `tools/call`.
///
/// # Examples
///
/// ```
/// use sterna_protocol::tool::CallToolRequestParams;
///
/// #[derive(serde::Deserialize)]
/// struct City<'a> {
///     name: &'a str,
/// }
///
/// let params: CallToolRequestParams = serde_json::from_str(
///     r#"{
///         "_meta": {
///             "io.modelcontextprotocol/protocolVersion": "2026-07-28",
///             "io.modelcontextprotocol/clientCapabilities": {}
///         },
///         "name": "weather",
///         "arguments": {"name": "Tromsø"}
///     }"#,
/// )?;
/// let arguments = params.arguments.unwrap_or_default();
/// let city: City = arguments.decode()?;
/// assert_eq!(city.name, "Tromsø");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallToolRequestParams {
    /// Request metadata (`_meta`): protocol version, client info, capabilities.
    pub meta: RequestMeta,
    /// Name of the tool.
    pub name: String,
    /// Arguments, as the client wrote them.
    pub arguments: Option<RawObject>,
    /// Answers to the questions of the previous round (`inputResponses`).
    pub input_responses: Option<InputResponses>,
    /// State that the server sent in the previous round, byte for byte
    /// (`requestState`).
    pub request_state: Option<RequestState>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CallToolRequestParams {
    /// Calls the tool `name` without arguments, in the first round.
    pub fn new(meta: RequestMeta, name: impl Into<String>) -> Self {
        Self {
            meta,
            name: name.into(),
            arguments: None,
            input_responses: None,
            request_state: None,
            extra: JsonObject::new(),
        }
    }

    /// Adds `arguments`.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl Into<RawObject>) -> Self {
        self.arguments = Some(arguments.into());
        self
    }
}

members!(CallToolRequestParams {
    required: meta = "_meta", name = "name";
    optional: arguments = "arguments", input_responses = "inputResponses",
        request_state = "requestState";
    rest: extra
});

/// Result of `tools/call`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// Output for the model.
    pub content: Vec<ContentBlock>,
    /// Structured output, for programs. Any JSON; before 2026-07-28 an object.
    pub structured_content: Option<RawJson>,
    /// True if the tool failed and `content` describes the failure. False if
    /// missing.
    pub is_error: Option<bool>,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CallToolResult {
    /// Creates a result with `content`.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self {
            content,
            structured_content: None,
            is_error: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }

    /// Creates a result with one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }

    /// Creates a failed result, whose `text` tells the model the reason.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: Some(true),
            ..Self::text(text)
        }
    }

    /// The text of the result: every text block, joined by line breaks. Empty
    /// without text.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::content::ContentBlock;
    /// use sterna_protocol::tool::CallToolResult;
    ///
    /// let blocks = vec![ContentBlock::text("two hosts"), ContentBlock::text("no errors")];
    /// assert_eq!(CallToolResult::new(blocks).to_text(), "two hosts\nno errors");
    /// ```
    pub fn to_text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Adds structured output for programs.
    #[must_use]
    pub fn with_structured_content(mut self, content: impl Into<RawJson>) -> Self {
        self.structured_content = Some(content.into());
        self
    }
}

members!(CallToolResult {
    required: content = "content";
    optional: structured_content = "structuredContent", is_error = "isError", meta = "_meta";
    rest: extra
});
