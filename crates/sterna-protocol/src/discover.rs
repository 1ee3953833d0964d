//! Discovery: what a server is and which revisions it speaks.

use crate::caching::{CacheScope, TtlMs};
use crate::capabilities::ServerCapabilities;
use crate::json::JsonObject;
use crate::meta::ResultMeta;
use crate::version::ProtocolVersion;

/// The result of `server/discover`.
///
/// Who the server is stands in `_meta`, as in every result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The revisions a client may choose from.
    pub supported_versions: Vec<ProtocolVersion>,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// How to use the server, for the model.
    pub instructions: Option<String>,
    /// How long this is fresh; see [`Cacheable`](crate::caching::Cacheable).
    pub ttl_ms: Option<TtlMs>,
    /// Who may share it.
    pub cache_scope: Option<CacheScope>,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl DiscoverResult {
    /// A server without instructions.
    pub fn new(supported_versions: Vec<ProtocolVersion>, capabilities: ServerCapabilities) -> Self {
        Self {
            supported_versions,
            capabilities,
            instructions: None,
            ttl_ms: None,
            cache_scope: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(DiscoverResult {
    required: supported_versions = "supportedVersions", capabilities = "capabilities";
    optional: instructions = "instructions", ttl_ms = "ttlMs", cache_scope = "cacheScope",
        meta = "_meta";
    rest: extra
});

cacheable!(DiscoverResult);
