//! Discovery: identity, capabilities and protocol versions of a server.

use crate::caching::{CacheScope, TtlMs};
use crate::capabilities::ServerCapabilities;
use crate::json::JsonObject;
use crate::meta::ResultMeta;
use crate::version::ProtocolVersion;

/// Result of `server/discover`.
///
/// The server's name and version are in `_meta`, as in every result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// Protocol versions that a client may choose from.
    pub supported_versions: Vec<ProtocolVersion>,
    /// Capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Instructions for the model on how to use the server.
    pub instructions: Option<String>,
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

impl DiscoverResult {
    /// Creates a result without instructions.
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
