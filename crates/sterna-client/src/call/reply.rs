use serde::de::DeserializeOwned;
use sterna_protocol::methods::{self, Request};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

/// What a [`Call`](crate::Call) ends with: the result of a tool, a prompt or a
/// resource. Nothing else may take several rounds.
pub trait Reply: DeserializeOwned + Send + 'static {
    /// The request that ends with it.
    const METHOD: &'static str;
}

impl Reply for CallToolResult {
    const METHOD: &'static str = methods::CallTool::METHOD;
}

impl Reply for GetPromptResult {
    const METHOD: &'static str = methods::GetPrompt::METHOD;
}

impl Reply for ReadResourceResult {
    const METHOD: &'static str = methods::ReadResource::METHOD;
}
