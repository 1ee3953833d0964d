//! Message metadata (`_meta`), with the reserved keys as fields.

mod trace;

pub use crate::meta_key::{InvalidMetaKey, MetaKey};
pub use crate::notification::{NotificationMeta, NotificationParams, RelatedTaskMetadata};
pub use trace::{is_baggage, is_tracestate, trace_id};

use crate::capabilities::ClientCapabilities;
use crate::implementation::Implementation;
use crate::json::JsonObject;
use crate::logging::LoggingLevel;
use crate::progress::ProgressToken;
use crate::version::ProtocolVersion;

/// Metadata (`_meta`) of a request of 2026-07-28.
///
/// Self-contained: the server needs no earlier request of the client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestMeta {
    /// Protocol revision of the request.
    pub protocol_version: ProtocolVersion,
    /// Capabilities of the client during this request.
    pub client_capabilities: ClientCapabilities,
    /// Client info: self-reported name and version.
    pub client_info: Option<Implementation>,
    /// Lowest level of log messages to send about this request.
    pub log_level: Option<LoggingLevel>,
    /// Token for progress notifications about this request.
    pub progress_token: Option<ProgressToken>,
    /// W3C trace context: parent span of the request.
    pub traceparent: Option<String>,
    /// W3C trace context: vendor data.
    pub tracestate: Option<String>,
    /// W3C baggage.
    pub baggage: Option<String>,
    /// All other keys.
    pub extra: JsonObject,
}

impl RequestMeta {
    /// Creates metadata with the two required keys.
    pub fn new(protocol_version: ProtocolVersion, client_capabilities: ClientCapabilities) -> Self {
        Self {
            protocol_version,
            client_capabilities,
            client_info: None,
            log_level: None,
            progress_token: None,
            traceparent: None,
            tracestate: None,
            baggage: None,
            extra: JsonObject::new(),
        }
    }

    /// Adds the client's name and version.
    #[must_use]
    pub fn with_client_info(mut self, client_info: Implementation) -> Self {
        self.client_info = Some(client_info);
        self
    }
}

members!(RequestMeta {
    required: protocol_version = "io.modelcontextprotocol/protocolVersion",
        client_capabilities = "io.modelcontextprotocol/clientCapabilities";
    optional: client_info = "io.modelcontextprotocol/clientInfo",
        log_level = "io.modelcontextprotocol/logLevel",
        progress_token = "progressToken",
        traceparent = "traceparent", tracestate = "tracestate", baggage = "baggage";
    rest: extra
});

/// Parameters of a request without any of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestParams {
    /// Request metadata (`_meta`): protocol version, client info, capabilities.
    pub meta: RequestMeta,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl RequestParams {
    /// Creates parameters with `meta` only.
    pub fn new(meta: RequestMeta) -> Self {
        Self {
            meta,
            extra: JsonObject::new(),
        }
    }
}

members!(RequestParams {
    required: meta = "_meta";
    rest: extra
});

/// Metadata (`_meta`) of a result.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResultMeta {
    /// Server info: self-reported name and version.
    pub server_info: Option<Implementation>,
    /// Task of 2025-11-25 that the result belongs to.
    pub related_task: Option<RelatedTaskMetadata>,
    /// All other keys.
    pub extra: JsonObject,
}

impl ResultMeta {
    /// Names the server that answers.
    pub fn of(server_info: Implementation) -> Self {
        Self {
            server_info: Some(server_info),
            ..Self::default()
        }
    }
}

members!(ResultMeta {
    optional: server_info = "io.modelcontextprotocol/serverInfo",
        related_task = "io.modelcontextprotocol/related-task";
    rest: extra
});
