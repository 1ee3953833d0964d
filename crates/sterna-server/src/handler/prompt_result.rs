use sterna_protocol::content::{ContentBlock, Role};
use sterna_protocol::prompt::{GetPromptResult, PromptMessage};

use super::RequestError;

/// Return type of a prompt: text for one message of the user, messages, or a
/// whole [`GetPromptResult`]; each also inside a `Result`.
pub trait IntoPromptResult {
    /// Makes it the result of `prompts/get`.
    ///
    /// # Errors
    ///
    /// There is no prompt; the client is told.
    fn into_prompt_result(self) -> Result<GetPromptResult, RequestError>;
}

impl IntoPromptResult for GetPromptResult {
    fn into_prompt_result(self) -> Result<GetPromptResult, RequestError> {
        Ok(self)
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> Result<GetPromptResult, RequestError> {
        Ok(GetPromptResult::new(self))
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> Result<GetPromptResult, RequestError> {
        vec![self].into_prompt_result()
    }
}

impl IntoPromptResult for String {
    fn into_prompt_result(self) -> Result<GetPromptResult, RequestError> {
        PromptMessage::new(Role::User, ContentBlock::text(self)).into_prompt_result()
    }
}

impl IntoPromptResult for &str {
    fn into_prompt_result(self) -> Result<GetPromptResult, RequestError> {
        self.to_owned().into_prompt_result()
    }
}

impl<T: IntoPromptResult, E: Into<RequestError>> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self) -> Result<GetPromptResult, RequestError> {
        self.map_err(Into::into)?.into_prompt_result()
    }
}
