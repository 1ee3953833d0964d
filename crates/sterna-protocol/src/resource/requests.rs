use super::{Resource, ResourceContents, ResourceTemplate};
use crate::caching::{CacheScope, TtlMs};
use crate::json::JsonObject;
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};
use crate::retry::{InputResponses, RequestState};

/// Result of `resources/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// Resources of this page.
    pub resources: Vec<Resource>,
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

impl ListResourcesResult {
    /// Creates the last page.
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

/// Result of `resources/templates/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// Resource templates of this page.
    pub resource_templates: Vec<ResourceTemplate>,
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

impl ListResourceTemplatesResult {
    /// Creates the last page.
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

/// Parameters of `resources/read`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceRequestParams {
    /// Request metadata (`_meta`): protocol version, client info, capabilities.
    pub meta: RequestMeta,
    /// URI of the resource.
    pub uri: String,
    /// Answers to the questions of the previous round (`inputResponses`).
    pub input_responses: Option<InputResponses>,
    /// State that the server sent in the previous round, byte for byte
    /// (`requestState`).
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

/// Result of `resources/read`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// Contents of the resource; several for a directory.
    pub contents: Vec<ResourceContents>,
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

impl ReadResourceResult {
    /// Creates a result with `contents`.
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

/// Parameters of `notifications/resources/updated`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceUpdatedNotificationParams {
    /// URI of the resource that changed. May be below the one subscribed to.
    pub uri: String,
    /// Notification metadata (`_meta`).
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ResourceUpdatedNotificationParams {
    /// Reports an update of the resource at `uri`.
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
