//! Pagination of lists.

use crate::json::JsonObject;
use crate::meta::RequestMeta;

/// Parameters of every list request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PaginatedRequestParams {
    /// Request metadata (`_meta`): protocol version, client info, capabilities.
    pub meta: RequestMeta,
    /// `nextCursor` of the previous page. `None` asks for the first page.
    pub cursor: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl PaginatedRequestParams {
    /// Asks for the first page.
    pub fn new(meta: RequestMeta) -> Self {
        Self {
            meta,
            cursor: None,
            extra: JsonObject::new(),
        }
    }

    /// Asks for the page that begins at `cursor`.
    #[must_use]
    pub fn with_cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }
}

members!(PaginatedRequestParams {
    required: meta = "_meta";
    optional: cursor = "cursor";
    rest: extra
});
