//! Discovery: identity, capabilities and protocol versions of a server.

use crate::caching::{CacheScope, TtlMs};
use crate::capabilities::ServerCapabilities;
use crate::meta::ResultMeta;
use crate::version::ProtocolVersion;

wire! {
    /// Result of `server/discover`.
    ///
    /// The server's name and version are in `_meta`, as in every result.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::capabilities::{ServerCapabilities, ToolsCapability};
    /// use sterna_protocol::discover::DiscoverResult;
    /// use sterna_protocol::version::ProtocolVersion;
    ///
    /// let mut capabilities = ServerCapabilities::default();
    /// capabilities.tools = Some(ToolsCapability::default());
    /// let result = DiscoverResult::new(vec![ProtocolVersion::LATEST], capabilities);
    /// assert_eq!(
    ///     serde_json::to_string(&result)?,
    ///     r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct DiscoverResult {
        required {
            /// Protocol versions that a client may choose from.
            supported_versions: Vec<ProtocolVersion> = "supportedVersions",
            /// Capabilities of the server.
            capabilities: ServerCapabilities = "capabilities",
        }
        optional {
            /// Instructions for the model on how to use the server.
            instructions: Option<String> = "instructions",
            /// Lifetime in a client's cache; see
            /// [`Cacheable`](crate::caching::Cacheable).
            ttl_ms: Option<TtlMs> = "ttlMs",
            /// Callers that may share a cached copy.
            cache_scope: Option<CacheScope> = "cacheScope",
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates a result without instructions.
    new(supported_versions: Vec<ProtocolVersion>, capabilities: ServerCapabilities);
}

cacheable!(DiscoverResult);
