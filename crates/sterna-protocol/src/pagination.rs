//! Pagination of lists.

use crate::meta::RequestMeta;

wire! {
    /// Parameters of every list request.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::capabilities::ClientCapabilities;
    /// use sterna_protocol::meta::RequestMeta;
    /// use sterna_protocol::pagination::PaginatedRequestParams;
    /// use sterna_protocol::tool::ListToolsResult;
    /// use sterna_protocol::version::ProtocolVersion;
    ///
    /// let meta = RequestMeta::new(ProtocolVersion::LATEST, ClientCapabilities::default());
    /// let page: ListToolsResult = serde_json::from_str(r#"{"tools":[],"nextCursor":"p2"}"#)?;
    ///
    /// let next = page.next_cursor.map(|cursor| PaginatedRequestParams::new(meta).with_cursor(cursor));
    /// assert_eq!(next.unwrap().cursor.as_deref(), Some("p2"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
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
