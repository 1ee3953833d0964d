use serde::de::DeserializeOwned;
use sterna_protocol::json::RawJson;
use sterna_protocol::methods::{self, RequestMethod};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

use crate::error::{Error, Fault};

/// Result of a [`Call`](crate::Call): that of a tool, a prompt or a resource.
/// Other requests end in one round.
pub trait Reply: DeserializeOwned + Send + 'static {
    /// The request that ends with it.
    const METHOD: &'static str;

    /// Structured content of a tool's result; `None` for other results.
    #[doc(hidden)]
    fn structured(&self) -> Option<Option<&RawJson>> {
        None
    }

    /// Converts the result of a task, which only tool calls can become.
    #[doc(hidden)]
    fn of_task(_: CallToolResult) -> Result<Self, Error> {
        Err(Fault::Broken("a task that was not asked for").into())
    }
}

impl Reply for CallToolResult {
    const METHOD: &'static str = methods::CallTool::METHOD;

    fn structured(&self) -> Option<Option<&RawJson>> {
        // A tool that failed has promised nothing.
        (self.is_error != Some(true)).then_some(self.structured_content.as_ref())
    }

    fn of_task(result: CallToolResult) -> Result<Self, Error> {
        Ok(result)
    }
}

impl Reply for GetPromptResult {
    const METHOD: &'static str = methods::GetPrompt::METHOD;
}

impl Reply for ReadResourceResult {
    const METHOD: &'static str = methods::ReadResource::METHOD;
}
