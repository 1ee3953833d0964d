//! Tools: what a model can have a server do.

mod call;
mod schema;

pub use call::{CallToolRequestParams, CallToolResult};
pub use schema::{NotAnObjectSchema, ObjectSchema};

use crate::caching::{CacheScope, TtlMs};
use crate::implementation::Icon;
use crate::json::{JsonObject, RawObject};
use crate::meta::ResultMeta;

/// Something a server can do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// The name it is called by.
    pub name: String,
    /// What its arguments must look like.
    pub input_schema: ObjectSchema,
    /// The name for people.
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: Option<String>,
    /// What its structured content will look like; any JSON Schema.
    pub output_schema: Option<RawObject>,
    /// Hints about its behaviour.
    pub annotations: Option<ToolAnnotations>,
    /// Pictures of it.
    pub icons: Option<Vec<Icon>>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Tool {
    /// A tool of which only the name and the arguments are known.
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

/// Hints about how a tool behaves; a server can lie in every one of them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// The name for people.
    pub title: Option<String>,
    /// It changes nothing. Assumed false.
    pub read_only_hint: Option<bool>,
    /// It may destroy something, not only add. Assumed true.
    pub destructive_hint: Option<bool>,
    /// Calling it twice with the same arguments is as calling it once. Assumed
    /// false.
    pub idempotent_hint: Option<bool>,
    /// It touches things outside the server's own world. Assumed true.
    pub open_world_hint: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ToolAnnotations {
    /// No hints: clients assume a tool that changes, and may destroy, things
    /// outside the server.
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

    /// Names the tool for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// It changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only_hint = Some(true);
        self
    }

    /// It may destroy something.
    #[must_use]
    pub fn destructive(mut self) -> Self {
        self.destructive_hint = Some(true);
        self
    }

    /// It only adds and destroys nothing.
    #[must_use]
    pub fn additive(mut self) -> Self {
        self.destructive_hint = Some(false);
        self
    }

    /// Calling it twice with the same arguments is as calling it once.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent_hint = Some(true);
        self
    }

    /// It touches things outside the server's own world, such as the web.
    #[must_use]
    pub fn open_world(mut self) -> Self {
        self.open_world_hint = Some(true);
        self
    }

    /// It touches nothing outside the server's own world.
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

/// The result of `tools/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// One page of tools.
    pub tools: Vec<Tool>,
    /// Where the next page begins; `None` after the last one.
    pub next_cursor: Option<String>,
    /// How long the page is fresh; see [`Cacheable`](crate::caching::Cacheable).
    pub ttl_ms: Option<TtlMs>,
    /// Who may share it.
    pub cache_scope: Option<CacheScope>,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListToolsResult {
    /// A page without a successor.
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
