//! `_meta`: what a message says about itself, with the reserved keys typed.

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

/// The `_meta` that every request of 2026-07-28 carries.
///
/// It makes the request stand alone: the server needs nothing that was said
/// before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestMeta {
    /// The revision the request is written in.
    pub protocol_version: ProtocolVersion,
    /// What the client can do for the server while it works on this request.
    pub client_capabilities: ClientCapabilities,
    /// Who the client says it is.
    pub client_info: Option<Implementation>,
    /// Asks for log messages about this request, from this level up.
    pub log_level: Option<LoggingLevel>,
    /// Asks for progress of this request under this token.
    pub progress_token: Option<ProgressToken>,
    /// W3C trace context: the span this request belongs to.
    pub traceparent: Option<String>,
    /// W3C trace context: what the tracing vendors add.
    pub tracestate: Option<String>,
    /// W3C baggage.
    pub baggage: Option<String>,
    /// Every other key.
    pub extra: JsonObject,
}

impl RequestMeta {
    /// The two keys that no request may lack.
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

    /// The same, saying who the client is.
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

/// The parameters of a request that has none of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestParams {
    /// What makes the request stand alone.
    pub meta: RequestMeta,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl RequestParams {
    /// Nothing but `meta`.
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

/// The `_meta` of a result.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResultMeta {
    /// Who the server says it is.
    pub server_info: Option<Implementation>,
    /// 2025-11-25: the task this result belongs to.
    pub related_task: Option<RelatedTaskMetadata>,
    /// Every other key.
    pub extra: JsonObject,
}

impl ResultMeta {
    /// A result of `server_info`.
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
