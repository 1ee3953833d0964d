use super::{Resource, ResourceContents, ResourceTemplate};
use crate::caching::{CacheScope, TtlMs};
use crate::meta::{NotificationMeta, RequestMeta, ResultMeta};
use crate::retry::{InputResponses, RequestState};

wire! {
    /// Result of `resources/list`.
    pub struct ListResourcesResult {
        required {
            /// Resources of this page.
            resources: Vec<Resource> = "resources",
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
    new(resources: Vec<Resource>);
}

wire! {
    /// Result of `resources/templates/list`.
    pub struct ListResourceTemplatesResult {
        required {
            /// Resource templates of this page.
            resource_templates: Vec<ResourceTemplate> = "resourceTemplates",
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
    new(resource_templates: Vec<ResourceTemplate>);
}

wire! {
    /// Parameters of `resources/read`.
    pub struct ReadResourceRequestParams {
        required {
            /// Request metadata (`_meta`): protocol version, client info,
            /// capabilities.
            meta: RequestMeta = "_meta",
            /// URI of the resource.
            uri: String = "uri",
        }
        optional {
            /// Answers to the questions of the previous round
            /// (`inputResponses`).
            input_responses: Option<InputResponses> = "inputResponses",
            /// State that the server sent in the previous round, byte for byte
            /// (`requestState`).
            request_state: Option<RequestState> = "requestState",
        }
    }

    /// Reads `uri`, in the first round.
    new(meta: RequestMeta, uri: impl Into<String>);
}

wire! {
    /// Result of `resources/read`.
    pub struct ReadResourceResult {
        required {
            /// Contents of the resource; several for a directory.
            contents: Vec<ResourceContents> = "contents",
        }
        optional {
            /// Lifetime in a client's cache; see
            /// [`Cacheable`](crate::caching::Cacheable).
            ttl_ms: Option<TtlMs> = "ttlMs",
            /// Callers that may share a cached copy.
            cache_scope: Option<CacheScope> = "cacheScope",
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates a result with `contents`.
    new(contents: Vec<ResourceContents>);
}

cacheable!(
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult
);

wire! {
    /// Parameters of `notifications/resources/updated`.
    pub struct ResourceUpdatedNotificationParams {
        required {
            /// URI of the resource that changed. May be below the one
            /// subscribed to.
            uri: String = "uri",
        }
        optional {
            /// Notification metadata (`_meta`).
            meta: Option<NotificationMeta> = "_meta",
        }
    }

    /// Reports an update of the resource at `uri`.
    new(uri: impl Into<String>);
}
