use super::{Resource, ResourceContents, ResourceTemplate};
use crate::caching::{CacheScope, TtlMs};
use crate::json::JsonObject;
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};
use crate::retry::{InputResponses, RequestState};

/// The result of `resources/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// One page of resources.
    pub resources: Vec<Resource>,
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

impl ListResourcesResult {
    /// A page without a successor.
    pub fn new(resources: Vec<Resource>) -> Self {
        Self {
            resources,
            next_cursor: None,
            ttl_ms: None,
            cache_scope: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ListResourcesResult {
    required: resources = "resources";
    optional: next_cursor = "nextCursor", ttl_ms = "ttlMs", cache_scope = "cacheScope",
        meta = "_meta";
    rest: extra
});

/// The result of `resources/templates/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// One page of templates.
    pub resource_templates: Vec<ResourceTemplate>,
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

impl ListResourceTemplatesResult {
    /// A page without a successor.
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        Self {
            resource_templates,
            next_cursor: None,
            ttl_ms: None,
            cache_scope: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ListResourceTemplatesResult {
    required: resource_templates = "resourceTemplates";
    optional: next_cursor = "nextCursor", ttl_ms = "ttlMs", cache_scope = "cacheScope",
        meta = "_meta";
    rest: extra
});

/// The parameters of `resources/read`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceRequestParams {
    /// What makes the request stand alone.
    pub meta: RequestMeta,
    /// What to read.
    pub uri: String,
    /// Answers to what the server asked in the round before.
    pub input_responses: Option<InputResponses>,
    /// The state the server sent in the round before, byte for byte.
    pub request_state: Option<RequestState>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ReadResourceRequestParams {
    /// Reads `uri`, in the first round.
    pub fn new(meta: RequestMeta, uri: impl Into<String>) -> Self {
        Self {
            meta,
            uri: uri.into(),
            input_responses: None,
            request_state: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ReadResourceRequestParams {
    required: meta = "_meta", uri = "uri";
    optional: input_responses = "inputResponses", request_state = "requestState";
    rest: extra
});

/// The result of `resources/read`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// What the resource holds; a directory may hold several.
    pub contents: Vec<ResourceContents>,
    /// How long it is fresh; see [`Cacheable`](crate::caching::Cacheable).
    pub ttl_ms: Option<TtlMs>,
    /// Who may share it.
    pub cache_scope: Option<CacheScope>,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ReadResourceResult {
    /// The resource holds `contents`.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            ttl_ms: None,
            cache_scope: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ReadResourceResult {
    required: contents = "contents";
    optional: ttl_ms = "ttlMs", cache_scope = "cacheScope", meta = "_meta";
    rest: extra
});

cacheable!(
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult
);

/// The parameters of `notifications/resources/updated`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceUpdatedNotificationParams {
    /// What changed; it may lie below what was subscribed to.
    pub uri: String,
    /// What the notification says about itself.
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ResourceUpdatedNotificationParams {
    /// The resource at `uri` changed.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ResourceUpdatedNotificationParams {
    required: uri = "uri";
    optional: meta = "_meta";
    rest: extra
});
