use crate::content::ContentBlock;
use crate::json::{JsonObject, RawJson, RawObject};
use crate::meta::{RequestMeta, ResultMeta};
use crate::retry::{InputResponses, RequestState};

/// The parameters of `tools/call`.
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
    /// What makes the request stand alone.
    pub meta: RequestMeta,
    /// The tool.
    pub name: String,
    /// Its arguments, as the client wrote them.
    pub arguments: Option<RawObject>,
    /// Answers to what the server asked in the round before.
    pub input_responses: Option<InputResponses>,
    /// The state the server sent in the round before, byte for byte.
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

    /// The same call with `arguments`.
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

/// The result of `tools/call`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// What the tool says, for the model.
    pub content: Vec<ContentBlock>,
    /// What the tool says, for programs; any JSON, an object before
    /// 2026-07-28.
    pub structured_content: Option<RawJson>,
    /// The tool failed, and `content` says how. Assumed false.
    pub is_error: Option<bool>,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CallToolResult {
    /// The tool says `content`.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self {
            content,
            structured_content: None,
            is_error: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }

    /// The tool says one thing.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }

    /// The tool failed, which the model should hear about.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: Some(true),
            ..Self::text(text)
        }
    }

    /// The text of the result: every text block, joined by line breaks. Empty
    /// if there is none.
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

    /// The same result with something for programs.
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
