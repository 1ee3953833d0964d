use std::fmt;

/// Failure of a tool, in words for the model.
///
/// The client gets it as a result with `isError`, because a model can act on
/// that and on a protocol error it cannot. Every `std::error::Error` becomes
/// one through `?`, with its causes; for words of your own use
/// [`new`](Self::new).
///
/// # Examples
///
/// ```
/// use sterna_server::ToolError;
///
/// fn port(text: &str) -> Result<u16, ToolError> {
///     let port = text.parse()?;
///     if port < 1024 {
///         return Err(ToolError::new("ports below 1024 are reserved, take a higher one"));
///     }
///     Ok(port)
/// }
///
/// assert_eq!(port("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
// It is no `Error` itself: that would forbid the conversion from all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError(String);

impl ToolError {
    /// Fails with `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        Self(text)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
