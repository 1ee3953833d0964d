//! Pagination of lists.

use crate::meta::RequestMeta;

wire! {
    /// Parameters of every list request.
    pub struct PaginatedRequestParams {
        required {
            /// Request metadata (`_meta`): protocol version, client info,
            /// capabilities.
            meta: RequestMeta = "_meta",
        }
        optional {
            /// `nextCursor` of the previous page. `None` asks for the first
            /// page.
            cursor: Option<String> = "cursor",
        }
    }

    /// Asks for the first page.
    new(meta: RequestMeta);
}

impl PaginatedRequestParams {
    /// Asks for the page that begins at `cursor`.
    #[must_use]
    pub fn with_cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }
}
