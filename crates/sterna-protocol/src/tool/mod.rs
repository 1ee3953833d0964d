//! Tools: functions of a server that a model can call.

mod call;
mod schema;

pub use call::{CallToolRequestParams, CallToolResult};
pub use schema::{NotAnObjectSchema, ObjectSchema};

use crate::caching::{CacheScope, TtlMs};
use crate::implementation::Icon;
use crate::json::{JsonObject, RawObject};
use crate::meta::ResultMeta;

/// Definition of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// Name for `tools/call`.
    pub name: String,
    /// JSON Schema of the arguments.
    pub input_schema: ObjectSchema,
    /// Display name.
    pub title: Option<String>,
    /// Description for the model.
    pub description: Option<String>,
    /// JSON Schema of the structured output.
    pub output_schema: Option<RawObject>,
    /// Hints about the behaviour of the tool.
    pub annotations: Option<ToolAnnotations>,
    /// Icons to show for it.
    pub icons: Option<Vec<Icon>>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Tool {
    /// Creates a tool with a name and an input schema only.
    pub fn new(name: impl Into<String>, input_schema: ObjectSchema) -> Self {
        Self {
            name: name.into(),
            input_schema,
            title: None,
            description: None,
            output_schema: None,
            annotations: None,
            icons: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(Tool {
    required: name = "name", input_schema = "inputSchema";
    optional: title = "title", description = "description", output_schema = "outputSchema",
        annotations = "annotations", icons = "icons", meta = "_meta";
    rest: extra
});

/// Hints about the behaviour of a tool. A server may give false ones.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// Display name.
    pub title: Option<String>,
    /// True if the tool changes nothing. False if missing.
    pub read_only_hint: Option<bool>,
    /// True if the tool may delete or overwrite, not only add. True if missing.
    pub destructive_hint: Option<bool>,
    /// True if a repeated call with the same arguments has no further effect.
    /// False if missing.
    pub idempotent_hint: Option<bool>,
    /// True if the tool reaches beyond the server, such as to the web. True if
    /// missing.
    pub open_world_hint: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
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

members!(ToolAnnotations {
    optional: title = "title", read_only_hint = "readOnlyHint",
        destructive_hint = "destructiveHint", idempotent_hint = "idempotentHint",
        open_world_hint = "openWorldHint";
    rest: extra
});

/// Result of `tools/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// Tools of this page.
    pub tools: Vec<Tool>,
    /// Cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// Lifetime in a client's cache; see
    /// [`Cacheable`](crate::caching::Cacheable).
    pub ttl_ms: Option<TtlMs>,
    /// Callers that may share a cached copy.
    pub cache_scope: Option<CacheScope>,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListToolsResult {
    /// Creates the last page.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self {
            tools,
            next_cursor: None,
            ttl_ms: None,
            cache_scope: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ListToolsResult {
    required: tools = "tools";
    optional: next_cursor = "nextCursor", ttl_ms = "ttlMs", cache_scope = "cacheScope",
        meta = "_meta";
    rest: extra
});

cacheable!(ListToolsResult);
