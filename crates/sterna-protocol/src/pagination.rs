//! Lists that come in pages.

use crate::json::JsonObject;
use crate::meta::RequestMeta;

/// The parameters of every request for a list.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PaginatedRequestParams {
    /// What makes the request stand alone.
    pub meta: RequestMeta,
    /// The `nextCursor` of the page before; `None` asks for the first page.
    pub cursor: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl PaginatedRequestParams {
    /// The first page.
    pub fn new(meta: RequestMeta) -> Self {
        Self {
            meta,
            cursor: None,
            extra: JsonObject::new(),
        }
    }

    /// The page that begins at `cursor`.
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
