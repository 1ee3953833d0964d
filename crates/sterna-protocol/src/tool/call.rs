use crate::content::ContentBlock;
use crate::json::{RawJson, RawObject};
use crate::meta::{RequestMeta, ResultMeta};
use crate::retry::{InputResponses, RequestState};

wire! {
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
    pub struct CallToolRequestParams {
        required {
            /// Request metadata (`_meta`): protocol version, client info,
            /// capabilities.
            meta: RequestMeta = "_meta",
            /// Name of the tool.
            name: String = "name",
        }
        optional {
            /// Arguments, as the client wrote them.
            arguments: Option<RawObject> = "arguments",
            /// Answers to the questions of the previous round
            /// (`inputResponses`).
            input_responses: Option<InputResponses> = "inputResponses",
            /// State that the server sent in the previous round, byte for byte
            /// (`requestState`).
            request_state: Option<RequestState> = "requestState",
        }
    }

    /// Calls the tool `name` without arguments, in the first round.
    new(meta: RequestMeta, name: impl Into<String>);
}

impl CallToolRequestParams {
    /// Adds `arguments`.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl Into<RawObject>) -> Self {
        self.arguments = Some(arguments.into());
        self
    }
}

wire! {
    /// Result of `tools/call`.
    pub struct CallToolResult {
        required {
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
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates a result with `content`.
    new(content: Vec<ContentBlock>);
}

impl CallToolResult {
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
    /// if there is no text.
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
