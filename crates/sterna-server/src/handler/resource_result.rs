use sterna_protocol::resource::{
    BlobResourceContents, ReadResourceResult, ResourceContents, TextResourceContents,
};

use super::RequestError;

/// Return type of a resource: text, bytes, contents, or a whole
/// [`ReadResourceResult`]; each also inside a `Result`.
pub trait IntoResourceResult {
    /// Makes it the result of `resources/read` for the resource at `uri`, which
    /// is of type `mime_type` if that is known.
    ///
    /// # Errors
    ///
    /// There is no resource; the client is told.
    fn into_resource_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, RequestError>;
}

impl IntoResourceResult for ReadResourceResult {
    fn into_resource_result(
        self,
        _: &str,
        _: Option<&str>,
    ) -> Result<ReadResourceResult, RequestError> {
        Ok(self)
    }
}

impl IntoResourceResult for Vec<ResourceContents> {
    fn into_resource_result(
        self,
        _: &str,
        _: Option<&str>,
    ) -> Result<ReadResourceResult, RequestError> {
        Ok(ReadResourceResult::new(self))
    }
}

impl IntoResourceResult for ResourceContents {
    fn into_resource_result(
        self,
        _: &str,
        _: Option<&str>,
    ) -> Result<ReadResourceResult, RequestError> {
        Ok(ReadResourceResult::new(vec![self]))
    }
}

impl IntoResourceResult for String {
    fn into_resource_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, RequestError> {
        let mut text = TextResourceContents::new(uri, self);
        text.mime_type = mime_type.map(str::to_owned);
        Ok(ReadResourceResult::new(vec![text.into()]))
    }
}

impl IntoResourceResult for &str {
    fn into_resource_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, RequestError> {
        self.to_owned().into_resource_result(uri, mime_type)
    }
}

impl IntoResourceResult for Vec<u8> {
    fn into_resource_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, RequestError> {
        let mut blob = BlobResourceContents::new(uri, &self);
        blob.mime_type = mime_type.map(str::to_owned);
        Ok(ReadResourceResult::new(vec![blob.into()]))
    }
}

impl<T: IntoResourceResult, E: Into<RequestError>> IntoResourceResult for Result<T, E> {
    fn into_resource_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, RequestError> {
        self.map_err(Into::into)?
            .into_resource_result(uri, mime_type)
    }
}
