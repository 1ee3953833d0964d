//! Tools: functions of a server that a model can call.

mod call;
mod schema;

pub use call::{CallToolRequestParams, CallToolResult};
pub use schema::{NotAnObjectSchema, ObjectSchema};

use crate::caching::{CacheScope, TtlMs};
use crate::implementation::Icon;
use crate::json::{JsonObject, RawObject};
use crate::meta::ResultMeta;

wire! {
    /// Definition of a tool.
    pub struct Tool {
        required {
            /// Name for `tools/call`.
            name: String = "name",
            /// JSON Schema of the arguments.
            input_schema: ObjectSchema = "inputSchema",
        }
        optional {
            /// Display name.
            title: Option<String> = "title",
            /// Description for the model.
            description: Option<String> = "description",
            /// JSON Schema of the structured output.
            output_schema: Option<RawObject> = "outputSchema",
            /// Hints about the behaviour of the tool.
            annotations: Option<ToolAnnotations> = "annotations",
            /// Icons to show for it.
            icons: Option<Vec<Icon>> = "icons",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates a tool with a name and an input schema only.
    new(name: impl Into<String>, input_schema: ObjectSchema);
}

wire! {
    /// Hints about the behaviour of a tool. A server may give false ones.
    #[derive(Default)]
    pub struct ToolAnnotations {
        optional {
            /// Display name.
            title: Option<String> = "title",
            /// True if the tool changes nothing. False if missing.
            read_only_hint: Option<bool> = "readOnlyHint",
            /// True if the tool may delete or overwrite, not only add. True if
            /// missing.
            destructive_hint: Option<bool> = "destructiveHint",
            /// True if a repeated call with the same arguments has no further
            /// effect. False if missing.
            idempotent_hint: Option<bool> = "idempotentHint",
            /// True if the tool reaches beyond the server, such as to the web.
            /// True if missing.
            open_world_hint: Option<bool> = "openWorldHint",
        }
    }
}

impl ToolAnnotations {
    /// Creates annotations without hints. Clients then assume a tool that
    /// changes things, may delete, and reaches beyond the server.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::tool::ToolAnnotations;
    ///
    /// let hints = ToolAnnotations::new().with_title("Look up").read_only().closed_world();
    /// assert_eq!(
    ///     serde_json::to_string(&hints)?,
    ///     r#"{"title":"Look up","readOnlyHint":true,"openWorldHint":false}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the display name.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Declares that the tool changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only_hint = Some(true);
        self
    }

    /// Declares that the tool may delete or overwrite.
    #[must_use]
    pub fn destructive(mut self) -> Self {
        self.destructive_hint = Some(true);
        self
    }

    /// Declares that the tool only adds.
    #[must_use]
    pub fn additive(mut self) -> Self {
        self.destructive_hint = Some(false);
        self
    }

    /// Declares that a repeated call with the same arguments has no further
    /// effect.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent_hint = Some(true);
        self
    }

    /// Declares that the tool reaches beyond the server, such as to the web.
    #[must_use]
    pub fn open_world(mut self) -> Self {
        self.open_world_hint = Some(true);
        self
    }

    /// Declares that the tool stays within the server.
    #[must_use]
    pub fn closed_world(mut self) -> Self {
        self.open_world_hint = Some(false);
        self
    }
}

wire! {
    /// Result of `tools/list`.
    pub struct ListToolsResult {
        required {
            /// Tools of this page.
            tools: Vec<Tool> = "tools",
        }
        optional {
            /// Cursor of the next page; `None` on the last one.
            next_cursor: Option<String> = "nextCursor",
            /// Lifetime in a client's cache; see
            /// [`Cacheable`](crate::caching::Cacheable).
            ttl_ms: Option<TtlMs> = "ttlMs",
            /// Callers that may share a cached copy.
            cache_scope: Option<CacheScope> = "cacheScope",
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates the last page.
    new(tools: Vec<Tool>);
}

cacheable!(ListToolsResult);
